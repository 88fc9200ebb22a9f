/**
 * Attacks on a running server: {@link dev.zmtp.attack.AttackTable} is the command, {@code docs/attacks.md} describes how
 * to use it, and {@code AttacksIT} runs each {@link dev.zmtp.attack.Attack} for a few seconds.
 *
 * <p>The server ({@code AttackedServer}, made of the codec or of {@code AttackedSockets}) has a process of its own, with a small heap, and does what its parent says on
 * its standard input ({@code ServerProcess}). An {@code AttackRun} connects an {@code HonestPeer} to it, which measures
 * how fast it is served, has {@code Visitors} come and go, lets {@code Attackers} loose, and sends {@code Newcomers} at the same time. What was seen is an
 * {@code AttackResult}.
 */
package dev.zmtp.attack;
