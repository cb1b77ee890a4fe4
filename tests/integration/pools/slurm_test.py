"""Nodes as pilot jobs of a real Slurm, started here: a backlog makes them, they join, train, are drained before their
walltime, survive scancel, and are given back when idle. Skipped where Slurm is not installed, or not as root."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
sys.path.insert(0, str(ROOT / "tests/support"))
from cluster import Cluster, eventually  # noqa: E402
from slurm_cluster import SlurmCluster, why_not  # noqa: E402


def job(name, workers, steps, least=None):
    args = {"data": str(ROOT / "README.md"), "steps": steps, "hidden": 16}
    return {"name": name, "run": {"trainer": "charlm", "args": args},
            "resources": {"gpus_per_worker": 1},
            "elastic": {"min": least or workers, "max": workers, "preferred": workers, "cooldown": "1s", "grace": "5s"},
            "batch": {"global": 32, "per_worker_max": 32}}


class SlurmPool(Cluster):
    def __init__(self, slurm, walltime="30"):
        self.slurm, self.walltime = slurm, walltime
        os.environ.update(SLURM_CONF=slurm.environment["SLURM_CONF"])
        super().__init__(str(BIN), slots=0)

    def _start(self, arguments):
        start = (f"{BIN}/agentd --daemon-socket {self.folder}/state/agent.sock --token-file "
                 f"{self.folder}/state/agent.token --state-dir {self.folder}/nodes/{{name}} --node {{name}} "
                 "--slots {slots} --isolation none")
        pool = {"name": "pilot", "provider": "slurm",
                "settings": {"start": start, "walltime": self.walltime,
                             "options": ["--cpus-per-task=2", "--chdir=/tmp", f"--output={self.folder}/pilot-%j.log"]},
                "slots_per_node": 2, "price_per_slot_hour": "1.00", "min": 0, "max": 2, "idle": "3s",
                "lead_time": "30s", "timeout": "20s", "list_every": "1s"}
        (self.folder / "nodes").mkdir(exist_ok=True)
        config = self.folder / "config.yaml"
        config.write_text(json.dumps({"pools": {"list": [pool]}}))
        super()._start(["--config", str(config), *arguments])


class SlurmTest(unittest.TestCase):
    def start(self, **settings):
        folder = tempfile.TemporaryDirectory(prefix="tp-slurm-")
        self.addCleanup(folder.cleanup)
        slurm = SlurmCluster(folder.name)
        self.addCleanup(slurm.close)
        cluster = SlurmPool(slurm, **settings)
        self.addCleanup(cluster.close)
        return slurm, cluster

    def wait(self, cluster, condition, what, seconds=180):
        told = [(e["type"], e["data"]) for e in cluster.events() if e["type"].startswith("pool.")]
        pilots = "\n".join(path.read_text(errors="replace")[-1000:] for path in cluster.folder.glob("pilot-*.log"))
        self.assertTrue(eventually(condition, seconds, 0.2), f"{what}\n{told}\n{pilots}\n{cluster.logs()}")

    def wait_state(self, cluster, job_id, state):
        self.wait(cluster, lambda: cluster.job(job_id)["state"] == state, f"{job_id} is not {state}")

    def test_a_backlog_makes_pilots_that_train_survive_scancel_and_are_given_back(self):
        slurm, cluster = self.start()
        job_id = cluster.submit(job("gang", workers=4, steps=100_000_000))
        self.wait_state(cluster, job_id, "running")
        pilots = slurm.jobs()
        self.assertEqual(len(pilots), 2)
        self.assertTrue(all(name.startswith("tidepool-") and state == "RUNNING" for name, state in pilots.items()))
        first = sorted(pilots)[0]
        slurm.ask("scancel", f"--name={first}")
        self.wait(cluster, lambda: cluster.events("pool.node_gone"), "the pilot that was cancelled is not missed")
        self.wait(cluster, lambda: len(cluster.events("pool.node_joined")) == 3, "it is not replaced")
        self.wait_state(cluster, job_id, "running")
        self.assertNotIn(first, slurm.jobs())
        cluster.call("DELETE", f"/v1/jobs/{job_id}")
        self.wait(cluster, lambda: not slurm.jobs(), "pilots are left in the queue")
        self.assertEqual(len(cluster.events("pool.node_asked")), 3)

    def test_a_pilot_is_drained_before_its_walltime_and_its_job_goes_on_elsewhere(self):
        slurm, cluster = self.start(walltime="1")  # Slurm counts in minutes
        # A folder that all pilots see, as on a site: what is saved on one is there for the next.
        job_id = cluster.submit({**job("patient", workers=2, steps=100_000_000),
                                 "checkpoint": {"dir": str(cluster.folder / "states")}})
        self.wait_state(cluster, job_id, "running")
        self.wait(cluster, lambda: cluster.events("pool.node_emptying"), "it is not emptied")
        why = cluster.events("pool.node_emptying")[0]["data"]["reason"]["text"]
        self.assertIn("its provider ends it in", why)
        self.wait(cluster, lambda: len(cluster.events("pool.node_joined")) >= 2, "no other takes its place")
        self.wait_state(cluster, job_id, "running")
        # Nothing was lost: the state was handed on, or saved and read again, before the end.
        for parked in cluster.events("job.parked"):
            self.wait(cluster, lambda step=parked["data"]["step"]: cluster.job(job_id)["progress"]["step"] > step,
                      "it begins again")
        self.assertEqual(cluster.events("worker.lost"), [])
        cluster.call("DELETE", f"/v1/jobs/{job_id}")
        self.wait(cluster, lambda: not slurm.jobs(), "pilots are left in the queue")


if __name__ == "__main__":
    if why_not():
        print("skipped: " + why_not())
        sys.exit(77)
    unittest.main(verbosity=2)
