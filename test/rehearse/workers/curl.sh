#!/usr/bin/env bash
# A worker of bash and curl, with heartbeats from a loop in the background, that keeps the contract
# or breaks it in one way: curl.sh [reports-twice | previous-lease]
fault=${1:-}
stop=0
trap 'stop=1' TERM INT

post() { curl -sS -m 5 -X POST -d "$2" "$1" 2>/dev/null; }
# The store may take long. Without its answer nobody may say that the task is done: a signal to the
# whole group ends curl, too.
effect() { curl -sS -X POST -d "$1" "$LEASEHOLD_EFFECTS_URL" >/dev/null 2>&1; }
about() { post "$LEASEHOLD_URL/v1/leases/$lease/$1" "{\"task_id\":\"$task\"$2}"; }
has() { [[ $1 == *"\"outcome\":\"$2\""* ]]; }
# A task that was given out before names its earlier leases, too, behind the one that is granted.
nth() { if [[ $fault == previous-lease ]]; then tail -n 1; else head -n 1; fi; }
field() { grep -oE "\"$1\":\"?[^\",}]*" <<<"$2" | nth | sed -E 's/^[^:]*:"?//'; }

beats() { # WORKER LOST-FILE
  trap '' TERM INT
  local n=0
  while sleep 0.1 && kill -0 "$1" 2>/dev/null && [[ ! -e $2.done ]]; do
    ((++n % 5)) && continue
    if has "$(about heartbeat)" REJECTED; then
      echo lost >"$2"
      return
    fi
  done
}

declare -A said=([complete]=',"result":"done"' [fail]=',"reason":"no answer of the store"')
while ((!stop)); do
  granted=$(post "$LEASEHOLD_URL/v1/leases" '{"worker_id":"curl","wait_ms":300}')
  if [[ $granted != *'"lease_id"'* ]]; then
    sleep 0.1
    continue
  fi
  task=$(field task_id "$granted")
  lease=$(field lease_id "$granted")
  token=$(field fencing_token "$granted")
  lost=$(mktemp)
  report=complete
  beats $$ "$lost" </dev/null >/dev/null 2>&1 &
  beat=$!
  if [[ $(field effects "$(curl -sS "$LEASEHOLD_EFFECTS_URL?task_id=$task")") == 0 ]]; then
    if has "$(about heartbeat)" OK; then
      effect "{\"task_id\":\"$task\",\"fencing_token\":$token}" || report=fail
    else
      echo lost >"$lost"
    fi
  fi
  # A heartbeat that is on its way must have arrived before the report leaves: to kill the loop
  # would not end the curl that it has started.
  touch "$lost.done"
  while kill -0 "$beat" 2>/dev/null; do wait "$beat"; done
  if [[ ! -s $lost ]]; then
    for _ in {1..30}; do
      answer=$(about "$report" "${said[$report]}")
      if [[ -n $answer ]] && ! has "$answer" UNAVAILABLE; then break; fi
      sleep 0.1
    done
  fi
  if [[ $fault == reports-twice && ! -s $lost ]]; then about complete ',"result":"done"'; fi
  rm -f "$lost" "$lost.done"
done
wait
