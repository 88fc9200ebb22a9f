/**
 * The comparison with other libraries. {@link dev.zmtp.compare.Compare} is the command: {@code ComparedPeers} says whom it measures,
 * {@code Cells} what, {@code Run} measures one cell of one peer in processes of its own, and {@code Report} writes what came
 * out.
 */
package dev.zmtp.compare;
