#!/usr/bin/env bash
# A worker in the shell: one task, by hand over the socket. Shows that the protocol needs nothing.
#
# usage: worker.sh HOST PORT QUEUE
set -euo pipefail
if (($# != 3)); then
  echo 'usage: worker.sh HOST PORT QUEUE' >&2
  exit 2
fi
exec 3<>"/dev/tcp/$1/$2"

call() { # METHOD PARAMS
  printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\n' "$1" "$2" >&3
  IFS= read -r answer <&3
  # Nothing has been decided: the same call again.
  if [[ $answer == *'"outcome":"UNAVAILABLE"'* ]]; then
    sleep 0.5
    call "$@"
  fi
}
# The first one: a task that was given out before also names its earlier leases, further behind.
field() {
  local from=${answer#*\"$1\":\"}
  printf '%s' "${from%%\"*}"
}

call lease "{\"worker_id\":\"shell\",\"queues\":[\"$3\"],\"wait_ms\":5000,\"encoding\":\"base64\"}"
if [[ $answer == *'"leases":[]'* ]]; then
  echo 'nothing to do'
  exit 5
fi
task=$(field task_id)
lease=$(field lease_id)
# Base64 holds any bytes, also those that JSON would have to escape.
result=$(field payload_base64 | base64 -d | tr '[:lower:]' '[:upper:]' | base64 -w 0)
call complete "{\"task_id\":\"$task\",\"lease_id\":\"$lease\",\"result_base64\":\"$result\"}"
echo "$task $(field outcome)"
