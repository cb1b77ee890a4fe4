"""A PyTorch script on several hosts at once: its workers meet at their nodes' data addresses, join, leave and die, an
agent dies, links break and come back, and all replicas stay equal, samples exact, slots with one worker each.
"""

import collections
import os
import pathlib
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "hosts"))
sys.path.insert(0, str(HERE))

from elastic_test import MISSING, SOURCE, library_settings, lines_of  # noqa: E402
from job_over_hosts import HostsCase, LinksCase, Watch, main  # noqa: E402


PROGRAM = "training_program.py"


class PythonOnHosts(LinksCase):
    missing = HostsCase.missing or MISSING

    def submit(self, cluster, size, epochs):  # of ten steps each
        self.lines_folder = cluster.folder / "lines"
        self.lines_folder.mkdir()
        program = ["/usr/bin/env", *library_settings(), sys.executable, str(HERE / PROGRAM),
                   str(self.lines_folder), "--epochs", str(epochs)]
        return cluster.submit({
            "name": "python", "run": {"command": program, "env": {"PYTHONPATH": str(SOURCE / "workers/python")}},
            "elastic": {"min": 1, "max": 3, "preferred": size, "cooldown": "0s"},
            "batch": {"global": 64, "per_worker_max": 64}, "scaling": {"policy": "fixed"}})

    def test_a_script_on_three_hosts_grows_shrinks_and_loses_a_worker_and_an_agent(self):
        cluster = self.open(hosts=3, slots=1, program=PROGRAM)
        watch = Watch(cluster, (1, 2, 3))
        watch.start()
        self.addCleanup(watch.over.set)
        job = self.submit(cluster, 2, 120)
        self.wait_steps(cluster, job, 2, 20)
        cluster.resize(job, 3)
        self.wait_steps(cluster, job, 3, 20)
        os.kill(cluster.workers(3)[0], signal.SIGKILL)
        self.wait_for(cluster, "the loss of a worker", lambda: cluster.events("worker.lost"))
        self.wait_steps(cluster, job, 3, 20)
        self.kill_agent(cluster, 2)
        self.wait_steps(cluster, job, 3, 20)
        cluster.resize(job, 2)
        self.wait_steps(cluster, job, 2, 20)
        self.wait_for(cluster, "the end", lambda: cluster.job(job)["state"] in ("succeeded", "failed"), 240)
        self.assertEqual(cluster.job(job)["state"], "succeeded", cluster.logs())
        self.check_audits(cluster)
        watch.end(self)
        switched = [event["data"] for event in cluster.events("generation.switched")]
        self.assertLessEqual(max(event["steps_redone"] for event in switched), 1, "beside the one in flight")
        self.check_replicas()

    def test_a_script_goes_on_when_hosts_lose_the_daemon_each_other_and_all_links(self):
        cluster = self.watched(self.open(hosts=3, slots=1, patience="3s", program=PROGRAM))
        job = self.submit(cluster, 3, 100_000)
        self.wait_steps(cluster, job, 3, 20)
        self.cut_from_the_daemon(cluster, job, 3)
        self.cut_from_each_other(cluster, job, 3)
        self.cut_from_all(cluster, job, 3, meanwhile=2)
        self.check_so_far(cluster, job)
        self.check_replicas()

    def check_replicas(self):
        """A step that is redone by other workers is another sum."""
        replicas = collections.defaultdict(set)
        for line in lines_of(self.lines_folder, "step"):
            replicas[line["generation"], line["step"]].add(line["digest"])
        self.assertGreater(len(replicas), 100)
        self.assertEqual([step for step, digests in replicas.items() if len(digests) != 1], [], "replicas differ")


if __name__ == "__main__":
    sys.exit(main(PythonOnHosts.missing))
