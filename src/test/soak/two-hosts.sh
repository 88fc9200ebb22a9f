#!/usr/bin/env bash
# The soak between two network namespaces, which are to each other as two hosts are: the servers in one, the peers and the
# proxies in the other, and between them a link that delays, loses and reorders packets, as far as this kernel can do that.
#
#   src/test/soak/two-hosts.sh [--minutes 5] [--seed 7] [--connections 50]     as root, from the root of the repository
#
# Needs iproute2 (ip, tc). With sch_netem in the kernel the link gets delay, loss and reordering; without, as the link of
# tbf alone, a rate and a short queue, which loses packets when it is full; and it says which of them it is. The
# namespaces are taken away at the end, however that comes. Exits with 0 if both sides found nothing wrong.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

NETEM=(delay 20ms 10ms distribution normal loss 0.5% reorder 2% 50%)
TBF=(rate 200mbit burst 64kb limit 96kb)
PORT=5600
SERVER=zmtp-soak-a-$$
PEERS=zmtp-soak-b-$$
work=$(mktemp -d)
server_pid=

end() {
    exec 3>&- || true
    [[ -z "$server_pid" ]] || kill "$server_pid" 2>/dev/null || true
    ip netns del "$SERVER" 2>/dev/null || true # and with it the link
    ip netns del "$PEERS" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
trap 'exit 1' INT TERM

[[ $(id -u) == 0 ]] || { echo "two-hosts.sh: it makes network namespaces, and must be root" >&2; exit 2; }

mvn -q test-compile dependency:build-classpath -Dmdep.includeScope=test -Dmdep.outputFile="$work/classpath"
java=(java -Xmx1g -Dslf4j.internal.verbosity=ERROR
    -Dio.netty.customResourceLeakDetector=io.netty.util.LeakPresenceDetector
    -cp "target/test-classes:target/classes:$(cat "$work/classpath")" dev.zmtp.soak.Soak)

ip netns add "$SERVER"
ip netns add "$PEERS"
ip link add soak0 netns "$SERVER" type veth peer name soak0 netns "$PEERS"
ip -n "$SERVER" addr add 10.211.0.1/24 dev soak0
ip -n "$PEERS" addr add 10.211.0.2/24 dev soak0
for host in "$SERVER" "$PEERS"; do
    ip -n "$host" link set lo up
    ip -n "$host" link set soak0 up
    if tc -n "$host" qdisc add dev soak0 root netem "${NETEM[@]}" 2>"$work/tc"; then
        echo "$host: netem ${NETEM[*]}"
    elif tc -n "$host" qdisc add dev soak0 root tbf "${TBF[@]}" 2>>"$work/tc"; then
        echo "$host: this kernel has no netem; tbf ${TBF[*]}"
    else
        echo "$host: this kernel has neither netem nor tbf, packets pass as they are: $(tr '\n' ' ' <"$work/tc")"
    fi
done

mkfifo "$work/until"
ip netns exec "$SERVER" "${java[@]}" --role server --host 10.211.0.1 --port "$PORT" "$@" \
    <"$work/until" >"$work/server.log" 2>&1 &
server_pid=$!
exec 3>"$work/until" # the server runs until this is closed
for ((i = 0; i < 300; i++)); do
    grep -q '^listening' "$work/server.log" && break
    sleep 0.1
done

peers=0
ip netns exec "$PEERS" "${java[@]}" --role peers --host 10.211.0.1 --port "$PORT" "$@" || peers=$?
exec 3>&-
servers=0
wait "$server_pid" || servers=$?
server_pid=

echo
echo "the servers' side"
cat "$work/server.log"
echo
echo "packets dropped on the way, and sent again by TCP"
for host in "$SERVER" "$PEERS"; do
    tc -n "$host" -s qdisc show dev soak0 | grep -E 'qdisc|dropped'
    ip netns exec "$host" awk '/^Tcp:/ { if (!n++) split($0, names); else for (i in names) if (names[i] == "RetransSegs") print "segments sent again: " $i }' /proc/net/snmp
done
[[ $peers == 0 && $servers == 0 ]]
