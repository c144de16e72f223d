#!/usr/bin/env bash
# Install (if needed), start the mock server, measure, print the table. Arguments go to bench.py.
set -eu
cd "$(dirname "$0")"
export PORT=${PORT:-8765}
needs=$(python3 bench.py --needs "$@")
# shellcheck disable=SC2086  # one word a name
[ -n "${SKIP_SETUP:-}" ] || ./setup.sh $needs
mkdir -p logs
# Server and client share one CPU at real-time priority: the loop is a ping-pong, so nothing else runs on that
# CPU meanwhile and other work on the machine disturbs the CPU times little. PIN= turns it off.
export PIN=${PIN-"chrt -f 1 taskset -c 1"}
$PIN true 2>/dev/null || PIN=
$PIN ./mock/target/release/mock "$PORT" 2>logs/mock.log &
server=$!
echo $server >logs/mock.pid
trap 'kill $server' EXIT
sleep 0.5
python3 bench.py "$@"
python3 table.py
