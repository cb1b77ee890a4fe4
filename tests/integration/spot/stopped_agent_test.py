"""An agent that is stopped with its workers, as when the Slurm pilot that runs it is cancelled: a real daemon and
agent, one job that may lose no workers, and one whose program does not end when it is told to."""
import os
import pathlib
import sys
import unittest

BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE))

from tests.support.agents_beside import AgentsBeside  # noqa: E402
from tests.support.cluster import eventually  # noqa: E402

PROGRAMS = ("schedulerd", "agentd", "tidepool-trainer")


@unittest.skipUnless(all((BIN / name).exists() for name in PROGRAMS), "build the whole project")
class StoppedAgent(unittest.TestCase):
    def setUp(self):
        self.cluster = AgentsBeside(str(BIN))
        self.addCleanup(self.cluster.close)
        self.start_pilot()

    def soon(self, condition):
        self.assertTrue(eventually(condition, 120, 0.1), self.cluster.logs())

    def start_pilot(self):
        self.cluster.start_agent("pilot", "--slots", "3", "--isolation", "none")
        self.soon(lambda: self.cluster.node("pilot"))

    def started(self):
        return len(self.cluster.events("worker.started"))

    def test_its_jobs_lose_no_restart_and_nothing_starts_on_its_node_until_it_is_back(self):
        text = self.cluster.show_text("the tide comes in and the tide goes out\n" * 100)
        job = self.cluster.submit({
            "name": "once", "limits": {"max_restarts": 0}, "elastic": {"min": 2, "max": 2},
            "run": {"trainer": "charlm", "args": {"data": [str(text)], "steps": 1000000, "hidden": 16}},
            "batch": {"global": 64, "per_worker_max": 64}})
        stubborn = self.cluster.submit({
            "name": "stubborn", "elastic": {"min": 1, "max": 1},
            "run": {"resize": "restart", "command": ["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"]}})
        self.soon(lambda: self.cluster.job(job)["progress"]["step"] >= 20)
        self.soon(lambda: self.cluster.job(stubborn)["state"] == "running")
        self.assertEqual(self.started(), 3)
        pilot = self.cluster.agents.pop("pilot")
        pilot.terminate()
        self.soon(lambda: self.cluster.events("node.lost"))
        self.assertIn("stopped", self.cluster.events("node.lost")[0]["data"]["why"])
        self.soon(lambda: self.cluster.job(job)["state"] == "pending")
        self.assertEqual(pilot.wait(60), 0)  # once the stubborn program has been ended by force
        self.assertEqual(self.started(), 3)
        self.start_pilot()
        self.soon(lambda: self.cluster.job(job)["state"] == "running")
        self.soon(lambda: self.cluster.job(stubborn)["state"] == "running")
        self.assertEqual(self.started(), 6)
        self.assertEqual(len(self.cluster.events("node.lost")), 1)


if __name__ == "__main__":
    unittest.main()
