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

from job_over_hosts import DAEMON, LinksCase, main  # noqa: E402

HOSTS = 4
PATIENCE = 3  # seconds after which the daemon gives a silent node up


class Partitions(LinksCase):
    def open(self):
        return self.watched(super().open(hosts=HOSTS, slots=1, patience=f"{PATIENCE}s"))

    def submit(self, cluster, size):
        return super().submit(cluster, size, 1_000_000)

    def test_training_goes_on_while_the_daemon_cannot_be_reached(self):
        cluster = self.open()
        job = self.submit(cluster, 4)
        self.wait_steps(cluster, job, 4, 50)
        self.cut_from_the_daemon(cluster, job, 4)
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
        self.cut_from_each_other(cluster, job, 4)
        self.assertEqual(cluster.events("node.lost"), [])
        self.check_so_far(cluster, job)

    def test_a_host_without_any_link_is_replaced_and_changes_nothing_when_it_is_back(self):
        cluster = self.open()
        job = self.submit(cluster, 3)
        self.wait_steps(cluster, job, 3, 50)
        self.cut_from_all(cluster, job, 3, meanwhile=3)  # on the fourth host
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


if __name__ == "__main__":
    sys.exit(main())
