"""One job over several hosts, and what is looked at while it trains: sizes, steps, the audit of its samples, who owns
the slots.
"""

import threading
import unittest

from hosts import Hosts, why_not
from tests.support.cluster import eventually


class Watch(threading.Thread):
    """Looks again and again which addresses the hosts listen on, and whether a slot has two workers: in the daemon's
    books, or as processes on the host."""

    def __init__(self, cluster, hosts):
        super().__init__(daemon=True)
        self.cluster, self.hosts, self.over = cluster, hosts, threading.Event()
        self.listened = {host: set() for host in hosts}
        self.twice, self.failed = [], None

    def run(self):
        try:
            self.look()
        except Exception as error:  # told where the test ends
            self.failed = error

    def look(self):
        looks = 0
        while not self.over.wait(0.003):
            for host in self.hosts:
                self.listened[host] |= {local for local, _, listens in self.cluster.network.sockets(host) if listens}
                started = self.cluster.started_workers(host)
                if len(started) > self.cluster.slots:
                    self.twice.append((host, started))
            looks += 1
            if looks % 40 == 0:
                self.look_at_slots()

    def end(self, test):
        self.over.set()
        self.join()
        test.assertIsNone(self.failed)
        test.assertEqual(self.twice, [], "a slot was owned twice")

    def look_at_slots(self):
        held = [slot["worker"] for node in self.cluster.call("GET", "/v1/nodes")["items"] for slot in node["slots"]
                if slot["worker"]]
        if len(held) != len(set(held)):  # each of these workers needs one slot
            self.twice.append(held)


class HostsCase(unittest.TestCase):
    maxDiff = None

    missing = why_not()

    def setUp(self):
        if self.missing:
            self.skipTest(self.missing)

    def open(self, **options):
        cluster = Hosts(**options)
        self.addCleanup(cluster.close)
        self.wait_for(cluster, "all nodes", lambda: len(self.nodes(cluster)) == options["hosts"])
        return cluster

    def nodes(self, cluster):
        return {node["name"]: node for node in cluster.call("GET", "/v1/nodes")["items"]}

    def wait_for(self, cluster, what, condition, seconds=120):
        answer = eventually(condition, seconds)
        if not answer:
            self.fail(f"{what} did not happen in {seconds} s\n{cluster.logs()}")
        return answer

    def submit(self, cluster, size, steps, most=4, **more):
        text = cluster.folder / "text.txt"
        text.write_text("the tide comes in and the tide goes out\n" * 100)
        return cluster.submit({
            "name": "across", "run": {"trainer": "charlm", "args": {"data": [str(text)], "steps": steps, "hidden": 32}},
            "resources": {"gpus_per_worker": 1},
            "elastic": {"min": 1, "max": most, "preferred": size, "cooldown": "0s"},
            "batch": {"global": 128, "per_worker_max": 128}, "scaling": {"policy": "fixed"}, **more})

    def wait_steps(self, cluster, job, size, count):
        """`count` more steps, at this size."""
        first = self.wait_for(cluster, f"size {size}", lambda: (
            lambda seen: seen if seen["size"] == size and seen["state"] == "running" else None)(cluster.job(job)))
        return self.wait_for(cluster, f"{count} steps of {size} workers", lambda: (
            cluster.job(job)["progress"]["step"] >= first["progress"]["step"] + count))

    def kill_agent(self, cluster, host):
        """And another one takes its place, which costs no worker."""
        started, workers = len(cluster.events("worker.started")), cluster.workers(host)
        cluster.agents[host].kill()  # `ip netns exec` has become the agent
        cluster.agents[host].wait()
        cluster.start_agent(host)
        self.wait_for(cluster, "the adoption", lambda: cluster.agent_log(host).count("adopted") == len(workers))
        self.assertEqual(cluster.workers(host), workers)
        self.assertEqual(len(cluster.events("worker.started")), started, "a killed agent costs no worker")

    def check_end(self, cluster, job, steps):
        self.wait_for(cluster, "the end", lambda: cluster.job(job)["state"] in ("succeeded", "failed"), 240)
        end = cluster.job(job)
        self.assertEqual((end["state"], end["progress"]["step"]), ("succeeded", steps), cluster.logs())
        self.check_audits(cluster)

    def check_audits(self, cluster):
        audits = [event["data"] for event in cluster.events("data.epoch_audited")]
        self.assertGreater(len(audits), 1)
        told = 0  # of short epochs, one event tells of several
        for audit in audits:
            told += audit["epochs"]
            self.assertEqual(audit["epoch"], told - 1, audits)
        for audit in audits:
            self.assertEqual((audit["used"], audit["checksum_ok"]), (audit["expected"], True))


def main(missing=HostsCase.missing):
    """Exit code 77: what is missing here is printed."""
    result = unittest.main(verbosity=2, exit=False).result
    if missing:
        print("skipped:", missing)
        return 77
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1
