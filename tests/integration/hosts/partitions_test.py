"""Links between hosts break and come back while a job trains over them: a host's link to the daemon, the links of the
hosts among each other, all links of one host. No sample is lost or used twice, no slot has two workers, and a host that
was given up changes nothing when it is back.
"""

import os
import pathlib
import random
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from job_over_hosts import HostsCase, Watch, main  # noqa: E402

DAEMON, HOSTS = 0, 4
PATIENCE = 3  # seconds after which the daemon gives a silent node up


class Partitions(HostsCase):
    def open(self):
        cluster = super().open(hosts=HOSTS, slots=1, patience=f"{PATIENCE}s")
        self.watch = Watch(cluster, range(1, HOSTS + 1))
        self.watch.start()
        self.addCleanup(self.watch.over.set)
        return cluster

    def submit(self, cluster, size):
        return super().submit(cluster, size, 1_000_000)

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

    def test_training_goes_on_while_the_daemon_cannot_be_reached(self):
        cluster = self.open()
        job = self.submit(cluster, 4)
        self.wait_steps(cluster, job, 4, 50)
        host = self.host_of_rank(cluster, job, 0)  # which speaks for all: what it says now does not arrive
        cluster.network.part([DAEMON, host])
        self.wait_node(cluster, host, "lost")
        # Its worker is not counted on: the others go on without it, and it finds no worker to step with.
        self.wait_steps(cluster, job, 3, 50)
        os.kill(cluster.workers(host)[0], signal.SIGSTOP)  # it does not end when asked
        cluster.network.part([DAEMON, host], apart=False)
        self.wait_node(cluster, host, "up")
        self.wait_steps(cluster, job, 4, 50)
        self.check_so_far(cluster, job)

    def test_a_short_cut_of_the_link_to_the_daemon_changes_nothing(self):
        cluster = self.open()
        job = self.submit(cluster, 4)
        self.wait_steps(cluster, job, 4, 50)
        workers = {host: cluster.workers(host) for host in range(1, 5)}
        cluster.network.part([DAEMON, 1])
        self.watch.over.wait(1)
        cluster.network.part([DAEMON, 1], apart=False)
        self.wait_steps(cluster, job, 4, 100)
        self.assertEqual({host: cluster.workers(host) for host in range(1, 5)}, workers)
        self.check_so_far(cluster, job)
        self.assertEqual(cluster.events("node.lost"), [])

    def test_workers_that_cannot_reach_each_other_go_on_when_they_can_again(self):
        cluster = self.open()
        job = self.submit(cluster, 4)
        self.wait_steps(cluster, job, 4, 50)
        cluster.network.part([1, 2, 3, 4])
        stood = self.wait_for(cluster, "a standstill", lambda: self.stands(cluster, job))
        cluster.network.part([1, 2, 3, 4], apart=False)
        self.wait_for(cluster, "steps again", lambda: cluster.job(job)["progress"]["step"] > stood + 50)
        self.assertEqual(cluster.events("node.lost"), [])
        self.wait_steps(cluster, job, 4, 50)
        self.check_so_far(cluster, job)

    def test_a_host_without_any_link_is_replaced_and_changes_nothing_when_it_is_back(self):
        cluster = self.open()
        job = self.submit(cluster, 3)
        self.wait_steps(cluster, job, 3, 50)
        host = next(host for host in range(1, 5) if cluster.workers(host))
        cluster.network.unplug(host)
        self.wait_node(cluster, host, "lost")
        self.wait_steps(cluster, job, 3, 50)  # on the fourth host
        old = cluster.workers(host)
        cluster.network.plug_in(host)
        self.wait_node(cluster, host, "up")
        self.wait_for(cluster, "the end of the old worker", lambda: not set(old) & set(cluster.workers(host)))
        self.wait_steps(cluster, job, 3, 50)
        self.check_so_far(cluster, job)

    def test_a_job_is_resized_over_links_that_are_slow_and_lose_packets(self):
        cluster = self.open()
        seed = random.randrange(1 << 30)
        print(f"seed {seed}", flush=True)
        cluster.network.lose(delay_ms=20, loss=0.01, seed=seed)
        job = self.submit(cluster, 2)
        self.wait_steps(cluster, job, 2, 20)
        for host in range(1, 5):
            self.wait_node(cluster, host, "up")
        lost = cluster.events("node.lost")  # a busy machine may take long to exchange the links
        cluster.resize(job, 4)
        self.wait_steps(cluster, job, 4, 20)
        cluster.resize(job, 3)
        self.wait_steps(cluster, job, 3, 20)
        os.kill(cluster.workers(next(host for host in range(1, 5) if cluster.workers(host)))[0], signal.SIGKILL)
        self.wait_for(cluster, "the loss of a worker", lambda: cluster.events("worker.lost"))
        self.wait_steps(cluster, job, 3, 20)
        self.check_so_far(cluster, job)
        self.assertEqual(cluster.events("node.lost"), lost)

    def stands(self, cluster, job):
        """The step at which nothing has moved for ten looks of a fifth of a second; 0 while something moves."""
        step = cluster.job(job)["progress"]["step"]
        for _ in range(10):
            if self.watch.over.wait(0.2) or cluster.job(job)["progress"]["step"] != step:
                return 0
        return step


if __name__ == "__main__":
    sys.exit(main())
