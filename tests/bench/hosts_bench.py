"""What changes and broken links cost a job whose workers are on four hosts: network namespaces joined by a bridge, a
daemon and four agents over TLS, one worker of the example trainer on each host.

Pauses are as the workers report them, in milliseconds beside a step in the same run. Of links that break: the time from
the cut until the job steps again, beside the daemon's patience with a silent node (3 s), or from the moment at which
the links are mended. Then all of it once more over links that delay each packet by 20 ms and lose 1 % of them.

    tools/bench hosts -- --repetitions 5
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import sys
import time

SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests/integration/hosts"))

from hosts import Hosts, why_not  # noqa: E402
from tests.support.cluster import eventually  # noqa: E402

DAEMON, HOSTS, PATIENCE_S = 0, 4, 3


def result(metric, value, unit, baseline_name, baseline):
    print(json.dumps({"bench": "hosts", "metric": metric, "value": round(value, 3), "unit": unit,
                      "baseline_name": baseline_name, "baseline": round(baseline, 3),
                      "ratio": round(value / baseline, 3)}), flush=True)


class Job:
    def __init__(self, cluster):
        self.cluster = cluster
        text = cluster.folder / "text.txt"
        text.write_text("the tide comes in and the tide goes out\n" * 100)
        self.id = cluster.submit({
            "name": "across", "run": {"trainer": "charlm",
                                      "args": {"data": [str(text)], "steps": 1_000_000, "hidden": 32}},
            "elastic": {"min": 1, "max": HOSTS, "preferred": 2, "cooldown": "0s"},
            "batch": {"global": 128, "per_worker_max": 128}, "scaling": {"policy": "fixed"},
            "limits": {"max_restarts": 10_000}})

    def wait(self, what, condition, seconds=180):
        answer = eventually(condition, seconds)
        if not answer:
            sys.exit(f"hosts_bench: {what} did not happen in {seconds} s\n{self.cluster.logs()}")
        return answer

    def step(self):
        return self.cluster.job(self.id)["progress"]["step"]

    def settle(self, size, steps=30):
        """Until so many more steps were made at this size."""
        def runs():
            job = self.cluster.job(self.id)
            return job if (job["size"], job["state"]) == (size, "running") else None
        first = self.wait(f"size {size}", runs)["progress"]["step"]
        self.wait(f"{steps} steps of {size} workers", lambda: self.step() >= first + steps)

    def resize(self, size):
        self.cluster.resize(self.id, size)
        self.settle(size)

    def pauses(self, kind):
        return [event["data"]["stall_ms"] for event in self.cluster.events("generation.switched")
                if event["data"]["kind"] == kind and event["data"]["measured"]]

    def step_ms(self, size):
        points = self.cluster.call("GET", f"/v1/jobs/{self.id}/metrics")["points"]
        return statistics.median(point["step_ms"] for point in points if point["size"] == size)

    def host(self):
        return next(host for host in range(1, HOSTS + 1) if self.cluster.workers(host))

    def forgive(self, host):
        """Its losses count no more: a node that is lost again and again gets no workers for a while."""
        node = next(node["id"] for node in self.cluster.call("GET", "/v1/nodes")["items"]
                    if node["name"] == f"host{host}")
        self.cluster.call("POST", f"/v1/nodes/{node}/clear-faults")

    def kill_worker(self):
        lost = len(self.cluster.events("worker.lost"))
        os.kill(self.cluster.workers(self.host())[0], signal.SIGKILL)
        self.wait("the loss of a worker", lambda: len(self.cluster.events("worker.lost")) > lost)
        self.settle(HOSTS)


def changes(job, repetitions, suffix):
    """Grows, shrinks and deaths of a worker."""
    job.settle(2)
    for _ in range(repetitions):
        job.resize(HOSTS)
        job.resize(2)
    grown, shrunk = job.pauses("grow"), job.pauses("shrink")
    job.resize(HOSTS)
    for _ in range(repetitions):
        job.kill_worker()
    step = job.step_ms(HOSTS)
    for name, pauses in (("grow", grown), ("shrink", shrunk), ("kill", job.pauses("failure"))):
        result(f"{name}_pause{suffix}", statistics.median(pauses), "ms", "a_step", step)


def until_it_steps(job, size):
    """Seconds until a step is made at this size."""
    began = time.monotonic()
    def steps():
        now = job.cluster.job(job.id)
        return now if now["size"] == size and now["state"] == "running" else None
    first = job.wait(f"size {size}", steps)["progress"]["step"]
    job.wait("a step", lambda: job.step() > first)
    return time.monotonic() - began


def broken_links(job, repetitions):
    cut_off, unplugged, mended = [], [], []
    network = job.cluster.network
    for _ in range(repetitions):
        host = job.host()
        job.forgive(host)
        network.part([DAEMON, host])
        cut_off.append(until_it_steps(job, HOSTS - 1))
        network.part([DAEMON, host], apart=False)
        job.settle(HOSTS)
        network.unplug(host)
        unplugged.append(until_it_steps(job, HOSTS - 1))
        network.plug_in(host)
        job.settle(HOSTS)
        network.part([1, 2, 3, 4])
        time.sleep(1)  # how long the links are away, not a wait for anything
        stood = job.step()
        network.part([1, 2, 3, 4], apart=False)
        began = time.monotonic()
        job.wait("steps again", lambda: job.step() > stood)
        mended.append(time.monotonic() - began)
        job.settle(HOSTS)
    result("steps_after_a_host_lost_the_daemon", statistics.median(cut_off), "s", "patience", PATIENCE_S)
    result("steps_after_a_host_lost_all_links", statistics.median(unplugged), "s", "patience", PATIENCE_S)
    result("steps_after_links_among_workers_are_back", statistics.median(mended), "s", "how_long_they_were_away", 1)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--repetitions", type=int, default=5)
    repetitions = arguments.parse_args().repetitions
    missing = why_not()
    if missing:
        print(f"hosts_bench: skipped: {missing}", file=sys.stderr)
        return 0
    for lossy in (False, True):
        cluster = Hosts(hosts=HOSTS, slots=1, patience=f"{PATIENCE_S}s")
        try:
            if lossy:
                cluster.network.lose(delay_ms=20, loss=0.01, seed=1)
            job = Job(cluster)
            changes(job, repetitions, "_20_ms_1_percent_lost" if lossy else "")
            if not lossy:
                broken_links(job, repetitions)
        finally:
            cluster.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
