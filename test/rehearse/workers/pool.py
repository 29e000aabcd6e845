"""A worker in Python over plain HTTP that works on several tasks at a time, and keeps the contract
or breaks it in one way:

    python3 pool.py [FAULT] [--capacity N] [--prefetch N] [--poll MS] [--batch]

FAULT: dead-thread | beats-on | repeats-rejected | drops-unavailable | swallows | crashes |
       late-effect | keeps | old-lease
"""

import argparse
import http.client
import json
import os
import queue
import signal
import threading
import time
import urllib.error
import urllib.request

options = argparse.ArgumentParser()
options.add_argument("fault", nargs="?", default="")
options.add_argument("--capacity", type=int, default=1)
options.add_argument("--prefetch", type=int, default=0, help="tasks held in advance")
options.add_argument("--poll", type=int, default=0, help="ask again so often, and never wait")
options.add_argument("--batch", action="store_true", help="every request as a batch")
options = options.parse_args()
fault = options.fault
server = os.environ["LEASEHOLD_URL"]
ledger = os.environ["LEASEHOLD_EFFECTS_URL"]

stopping = threading.Event()
for name in (signal.SIGTERM, signal.SIGINT):
    signal.signal(name, lambda *_: stopping.set())

lock = threading.Lock()
held = {}  # Leases in hand, by their id.
beats = {} if fault == "beats-on" else held
first_lease = {}  # The first lease of each task, which only the fault `old-lease` goes on using.


def post(url, body, timeout=10):
    """None: there was no answer."""
    request = urllib.request.Request(url, json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)
    except (OSError, ValueError, http.client.HTTPException):
        return None


def ask_all(requests):
    """The answers to several requests in one batch, in their order."""
    answer = post(server + "/v1/batch", {"requests": requests}, timeout=2)
    return (answer or {}).get("answers") or [None] * len(requests)


def about(op, lease, **more):
    lease_id = lease["lease_id"]
    if fault == "old-lease":
        lease_id = first_lease.setdefault(lease["task_id"], lease_id)
    if options.batch:
        return ask_all([dict(op=op, task_id=lease["task_id"], lease_id=lease_id, **more)])[0]
    return post(f"{server}/v1/leases/{lease_id}/{op}", dict(task_id=lease["task_id"], **more))


def outcome(answer):
    return (answer or {}).get("outcome")


def drop(lease):
    with lock:
        held.pop(lease["lease_id"], None)


def heartbeats():
    while True:
        time.sleep(0.4)
        with lock:
            now = list(beats.values())
        if options.batch and now:
            names = ("task_id", "lease_id")
            answers = ask_all([dict(op="heartbeat", **{n: l[n] for n in names}) for l in now])
        else:
            answers = [about("heartbeat", lease) for lease in now]
        for lease, answer in zip(now, answers):
            if outcome(answer) == "REJECTED":
                lease["lost"] = True
                drop(lease)
        if fault == "dead-thread" and now:
            return


def report(lease, op, **more):
    """The same report again while it is not decided."""
    for tries in range(40):
        if lease.get("lost"):
            return
        answer = about(op, lease, **more)
        if fault == "repeats-rejected" and outcome(answer) == "REJECTED" and tries < 3:
            continue
        if answer is not None and (outcome(answer) != "UNAVAILABLE" or fault == "drops-unavailable"):
            return
        time.sleep(0.1)


def has_effect(lease):
    with urllib.request.urlopen(f"{ledger}?task_id={lease['task_id']}") as answer:
        return json.load(answer)["effects"] > 0


def make_effect(lease):
    """@returns False: the lease is lost, and there is no effect."""
    if fault != "late-effect":
        if has_effect(lease):
            return True
        if fault != "old-lease" and outcome(about("heartbeat", lease)) != "OK":
            return False
    names = ("task_id", "fencing_token")
    post(ledger, {name: lease[name] for name in names}, timeout=60)
    return True


def work(lease):
    if fault == "keeps" and stopping.is_set():
        return
    try:
        json.loads(lease["payload"])
    except ValueError as error:
        if fault == "crashes":
            os._exit(1)
        if fault != "swallows":
            report(lease, "fail", reason=str(error), kind="permanent")
        return
    if make_effect(lease) and not (fault == "keeps" and stopping.is_set()):
        report(lease, "complete", result="done")


tasks = queue.Queue()


def work_on():
    for lease in iter(tasks.get, None):
        if stopping.is_set() and fault != "keeps":
            report(lease, "fail", reason="the worker stops", kind="released")
        elif not lease.get("lost"):
            work(lease)
        drop(lease)


def lease_some(free):
    asked = {"worker_id": f"pool-{os.getpid()}", "max": free}
    if options.batch:
        answer = ask_all([dict(op="lease", **asked)])[0]
    elif options.poll:
        answer = post(server + "/v1/leases", asked)
    else:
        answer = post(server + "/v1/leases", dict(wait_ms=300, **asked))
    leases = (answer or {}).get("leases", [])
    for lease in leases:
        with lock:
            held[lease["lease_id"]] = beats[lease["lease_id"]] = lease
        tasks.put(lease)
    if not leases:
        time.sleep((options.poll or 50) / 1000)


threads = [threading.Thread(target=work_on) for _ in range(options.capacity)]
for thread in threads:
    thread.start()
threading.Thread(target=heartbeats, daemon=True).start()
while not stopping.is_set():
    with lock:
        room = options.capacity + options.prefetch - len(held)
    if room > 0:
        lease_some(room)
    else:
        time.sleep(0.02)
for _ in threads:
    tasks.put(None)
for thread in threads:
    thread.join()
