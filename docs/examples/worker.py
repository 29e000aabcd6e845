"""A worker in plain Python, without any library: JSON lines over the socket.

usage: python3 worker.py HOST PORT QUEUE
A payload of {"add": [1, 2, 39], "seconds": 2} takes two seconds and results in 42.
"""

import json
import socket
import sys
import threading
import time

if len(sys.argv) != 4:
    sys.exit(__doc__)
host, port, queue = sys.argv[1], int(sys.argv[2]), sys.argv[3]


class Connection:
    """One call at a time; a long poll and the heartbeats have a connection each."""

    def __init__(self):
        self.socket = socket.create_connection((host, port))
        self.lines = self.socket.makefile("r", encoding="utf-8")
        self.calls = 0

    def call(self, method, **params):
        while True:
            self.calls += 1
            call = {"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}
            self.socket.sendall((json.dumps(call) + "\n").encode("utf-8"))
            answer = json.loads(self.lines.readline())
            if "error" in answer:
                raise RuntimeError(answer["error"]["message"])
            if answer["result"].get("outcome") != "UNAVAILABLE":
                return answer["result"]
            # Nothing has been decided: the same call again.
            time.sleep(0.5)


def keep(lease, done, lost):
    """Heartbeats from a thread of its own, so that the work cannot hold them up."""
    heartbeats = Connection()
    names = {"task_id": lease["task_id"], "lease_id": lease["lease_id"]}
    while not done.wait(lease["heartbeat_interval_ms"] / 1000):
        if heartbeats.call("heartbeat", **names)["outcome"] != "OK":
            lost.set()
            return


main = Connection()
while True:
    leases = main.call("lease", worker_id="python", queues=[queue], wait_ms=1000)["leases"]
    if not leases:
        break
    for lease in leases:
        done, lost = threading.Event(), threading.Event()
        threading.Thread(target=keep, args=(lease, done, lost), daemon=True).start()
        names = {"task_id": lease["task_id"], "lease_id": lease["lease_id"]}
        try:
            numbers = json.loads(lease["payload"])
            done.wait(numbers.get("seconds", 0))
            result = str(sum(numbers["add"]))
        except (ValueError, KeyError, TypeError) as error:
            reason = f"{type(error).__name__}: {error}"
            report = main.call("fail", reason=reason, kind="permanent", **names)
        else:
            # After the loss nothing is reported: the attempt has no authority any more.
            if lost.is_set():
                continue
            report = main.call("complete", result=result, **names)
        finally:
            done.set()
        print(lease["task_id"], report["outcome"], flush=True)
