#!/bin/sh
# Submits a task for each of the last days, today included. Days that have their task already are
# left as they are, because the request id names the day.
#
# usage: LEASEHOLD_URL=http://… sh catch-up.sh QUEUE DAYS
# DAYS must be fewer than the days for which leasehold remembers a completed task (7).
set -u
queue=$1
days=$2
status=0
ago=$((days - 1))
while [ "$ago" -ge 0 ]; do
  day=$(date -u -d "$ago days ago" +%F)
  leasehold submit --queue "$queue" --request-id "$queue-$day" "{\"day\":\"$day\"}" || status=$?
  ago=$((ago - 1))
done
exit "$status"
