"""One job over several hosts, and what is looked at while it trains: sizes, steps, the audit of its samples, who owns
the slots; and the ways in which links between its hosts break.
"""

import os
import signal
import threading
import unittest

from hosts import Hosts, why_not
from tests.support.cluster import eventually


DAEMON = 0  # its host's number


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


class LinksCase(HostsCase):
    """Links break while a job trains over them, and come back. The watch is on from the first cut to the check."""

    def watched(self, cluster):
        self.watch = Watch(cluster, sorted(cluster.agents))
        self.watch.start()
        self.addCleanup(self.watch.over.set)
        return cluster

    def cut_from_the_daemon(self, cluster, job, size):
        host = self.host_of_rank(cluster, job, 0)  # which speaks for all: what it says now does not arrive
        cluster.network.part([DAEMON, host])
        self.wait_node(cluster, host, "lost")
        # Its worker is not counted on: the others go on without it, and it finds no worker to step with.
        self.wait_steps(cluster, job, size - 1, 50)
        os.kill(cluster.workers(host)[0], signal.SIGSTOP)  # it does not end when asked
        cluster.network.part([DAEMON, host], apart=False)
        self.wait_node(cluster, host, "up")
        self.wait_steps(cluster, job, size, 50)

    def cut_from_each_other(self, cluster, job, size):
        lost, hosts = cluster.events("node.lost"), sorted(cluster.agents)
        cluster.network.part(hosts)
        stood = self.wait_for(cluster, "a standstill", lambda: self.stands(cluster, job))
        cluster.network.part(hosts, apart=False)
        self.wait_for(cluster, "steps again", lambda: cluster.job(job)["progress"]["step"] > stood + 50)
        self.assertEqual(cluster.events("node.lost"), lost)
        self.wait_steps(cluster, job, size, 50)

    def cut_from_all(self, cluster, job, size, meanwhile):
        """`meanwhile`: the job's size without the host."""
        host = next(host for host in sorted(cluster.agents) if cluster.workers(host))
        cluster.network.unplug(host)
        self.wait_node(cluster, host, "lost")
        self.wait_steps(cluster, job, meanwhile, 50)
        old = cluster.workers(host)
        cluster.network.plug_in(host)
        self.wait_node(cluster, host, "up")
        self.wait_for(cluster, "the end of the old worker", lambda: not set(old) & set(cluster.workers(host)))
        self.wait_steps(cluster, job, size, 50)

    def check_so_far(self, cluster, job):
        self.wait_for(cluster, "two epochs", lambda: len(cluster.events("data.epoch_audited")) > 1)
        cluster.call("DELETE", f"/v1/jobs/{job}")
        self.wait_for(cluster, "the end", lambda: cluster.job(job)["state"] == "cancelled")
        self.check_audits(cluster)
        self.watch.end(self)
        switched = [event["data"] for event in cluster.events("generation.switched")]
        self.assertLessEqual(max(event["steps_redone"] for event in switched), 1, "beside the one in flight")

    def wait_node(self, cluster, host, state):
        self.wait_for(cluster, f"host{host} {state}", lambda: self.nodes(cluster)[f"host{host}"]["state"] == state)

    def host_of_rank(self, cluster, job, rank):
        workers = cluster.call("GET", f"/v1/jobs/{job}/workers")["items"]
        name = next(worker["node_name"] for worker in workers if worker["rank"] == rank)
        return int(name.removeprefix("host"))

    def stands(self, cluster, job):
        """The step at which nothing has moved for ten looks of a fifth of a second; 0 while something moves."""
        step = cluster.job(job)["progress"]["step"]
        for _ in range(10):
            if self.watch.over.wait(0.2) or cluster.job(job)["progress"]["step"] != step:
                return 0
        return step


def main(missing=HostsCase.missing):
    """Exit code 77: what is missing here is printed."""
    result = unittest.main(verbosity=2, exit=False).result
    if missing:
        print("skipped:", missing)
        return 77
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1
