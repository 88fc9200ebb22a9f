/**
 * What a fuzzer feeds, one class for each target: {@code fuzzerTestOneInput} takes any bytes and fails if the library
 * does anything that its documentation does not promise.
 *
 * <p>The targets know no fuzzer. Jazzer finds the method by its name, and {@code SeedsTest} calls it with each seed
 * below {@code src/test/resources/fuzz}. See {@code docs/fuzzing.md}.
 */
package dev.zmtp.fuzz;
