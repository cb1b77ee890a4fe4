"""A PyTorch script on several hosts at once: its workers meet at their nodes' data addresses, join, leave and die, and
all replicas stay equal.
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
from job_over_hosts import HostsCase, main  # noqa: E402


class PythonOnHosts(HostsCase):
    missing = HostsCase.missing or MISSING

    def submit(self, cluster, size, epochs):  # of ten steps each
        self.lines_folder = cluster.folder / "lines"
        self.lines_folder.mkdir()
        program = ["/usr/bin/env", *library_settings(), sys.executable, str(HERE / "training_program.py"),
                   str(self.lines_folder), "--epochs", str(epochs)]
        return cluster.submit({
            "name": "python", "run": {"command": program, "env": {"PYTHONPATH": str(SOURCE / "workers/python")}},
            "elastic": {"min": 1, "max": 3, "preferred": size, "cooldown": "0s"},
            "batch": {"global": 64, "per_worker_max": 64}, "scaling": {"policy": "fixed"}})

    def test_a_script_on_three_hosts_grows_shrinks_and_loses_a_worker(self):
        cluster = self.open(hosts=3, slots=1)
        job = self.submit(cluster, 2, 60)
        self.wait_steps(cluster, job, 2, 20)
        cluster.resize(job, 3)
        self.wait_steps(cluster, job, 3, 20)
        os.kill(cluster.workers(3, "training_program.py")[0], signal.SIGKILL)
        self.wait_for(cluster, "the loss of a worker", lambda: cluster.events("worker.lost"))
        self.wait_steps(cluster, job, 3, 20)
        cluster.resize(job, 2)
        self.wait_steps(cluster, job, 2, 20)
        self.wait_for(cluster, "the end", lambda: cluster.job(job)["state"] in ("succeeded", "failed"), 240)
        self.assertEqual(cluster.job(job)["state"], "succeeded", cluster.logs())
        replicas = collections.defaultdict(set)
        for line in lines_of(self.lines_folder, "step"):
            replicas[line["step"]].add(line["digest"])
        self.assertGreater(len(replicas), 100)
        self.assertEqual([step for step, digests in replicas.items() if len(digests) != 1], [], "replicas differ")


if __name__ == "__main__":
    sys.exit(main(PythonOnHosts.missing))
