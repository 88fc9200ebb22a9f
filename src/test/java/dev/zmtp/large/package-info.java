/**
 * Sockets in the sizes of a large service: many clients, little memory, long times. With {@code mvn verify -Pci} each
 * test runs in a size that takes seconds, and with {@code mvn verify -Plarge} in its whole size: {@code Size} says
 * which. What one run measured is in {@code docs/soak.md}.
 */
package dev.zmtp.large;
