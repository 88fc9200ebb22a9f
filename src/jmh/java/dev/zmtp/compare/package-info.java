/**
 * The comparison with other libraries. {@link dev.zmtp.compare.Compare} is the command: {@code ComparedPeers} lists the
 * peers, {@code Cells} what is measured, {@code Run} measures one cell of one peer in processes of its own, and
 * {@code Report} writes the results.
 */
package dev.zmtp.compare;
