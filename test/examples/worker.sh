#!/usr/bin/env bash
# A worker in the shell: one task, by hand over the socket. Shows that the protocol needs nothing.
#
# usage: worker.sh HOST PORT QUEUE
set -euo pipefail
exec 3<>"/dev/tcp/$1/$2"

call() { # METHOD PARAMS
  printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\n' "$1" "$2" >&3
  IFS= read -r answer <&3
}
field() { sed -E "s/.*\"$1\":\"([^\"]*)\".*/\1/" <<<"$answer"; }

call lease "{\"worker_id\":\"shell\",\"queues\":[\"$3\"],\"wait_ms\":5000}"
task=$(field task_id)
lease=$(field lease_id)
result=$(field payload | tr '[:lower:]' '[:upper:]')
call complete "{\"task_id\":\"$task\",\"lease_id\":\"$lease\",\"result\":\"$result\"}"
echo "$task $(field outcome)"
