"""Nodes that are worked on in a window, and one whose agent is lost again and again: a real daemon, which is killed
meanwhile, an agent for each node, and a job that trains on them."""
import datetime
import signal
import subprocess
import unittest

from spot_test import BIN, PROGRAMS, Spot, job_on  # beside this file
from tests.support.cluster import eventually

CONFIG = "unsteady_nodes: {half_life: 60s, longest: 5m}\nagents: {patience: 2s}\n"


def utc_in(seconds):
    """The time so long after now, as the API takes it."""
    then = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


@unittest.skipUnless(all((BIN / name).exists() for name in PROGRAMS), "build the whole project")
class NodesOut(unittest.TestCase):
    def cluster(self):
        cluster = Spot()
        self.addCleanup(cluster.close)
        (cluster.folder / "config.yaml").write_text(CONFIG)
        self.restart(cluster, signal.SIGTERM)
        return cluster

    def restart(self, cluster, by=signal.SIGKILL):
        cluster.restart(["--config", str(cluster.folder / "config.yaml")], by)

    def soon(self, cluster, condition, seconds=120):
        self.assertTrue(eventually(condition, seconds, 0.2), cluster.told())

    def ctl(self, cluster, *arguments):
        done = subprocess.run([BIN / "schedctl", "--url", cluster.url, "--token-file",
                               cluster.folder / "state/admin.token", *arguments],
                              capture_output=True, text=True, check=True)
        return done.stdout

    def test_a_node_is_empty_when_its_window_begins_and_comes_back_by_itself_whatever_becomes_of_the_daemon(self):
        cluster = self.cluster()
        cluster.start_node("old")
        self.soon(cluster, lambda: cluster.node("old")["state"] == "up")
        job = cluster.submit(job_on(cluster))
        self.soon(cluster, lambda: cluster.job(job)["progress"]["step"] >= 50)
        cluster.start_node("other")
        self.soon(cluster, lambda: cluster.node("other")["state"] == "up")
        self.ctl(cluster, "maintenance", "add", "old", "--from", utc_in(45), "--to", utc_in(55), "--reason", "firmware")
        self.soon(cluster, lambda: cluster.cause("old") == "maintenance")
        self.assertRegex(self.ctl(cluster, "nodes"), "(draining|drained), maintenance at ")  # it may be empty already
        self.soon(cluster, lambda: cluster.node("old")["drain"]["drained"])
        self.assertEqual(cluster.busy("other"), 2)
        self.restart(cluster)
        self.assertEqual(cluster.cause("old"), "maintenance")
        self.assertEqual([each["state"] for each in cluster.call("GET", "/v1/maintenance")["items"]], ["draining"])
        # Its machine is off for a while, as machines are that are worked on.
        gone = cluster.agents.pop("old")
        gone.kill()
        gone.wait()
        self.soon(cluster, lambda: cluster.node("old")["state"] == "lost")
        self.soon(cluster, lambda: cluster.events("maintenance.began"))
        self.restart(cluster)
        cluster.start_node("old")
        self.soon(cluster, lambda: cluster.events("maintenance.ended"))
        self.soon(cluster, lambda: cluster.node("old")["state"] == "up")
        self.assertIsNone(cluster.node("old")["drain"])
        self.assertIsNone(cluster.node("old")["faults"])
        self.assertEqual(cluster.call("GET", "/v1/maintenance")["items"], [])
        self.assertEqual(cluster.events("worker.lost"), [])
        switched = cluster.events("generation.switched")
        self.assertEqual([each["data"]["steps_redone"] for each in switched], [0] * len(switched))
        cluster.call("DELETE", f"/v1/jobs/{job}")

    def test_a_node_that_is_lost_again_and_again_gets_no_worker_until_an_operator_clears_its_faults(self):
        cluster = self.cluster()
        cluster.start_node("flaps")
        self.soon(cluster, lambda: cluster.node("flaps")["state"] == "up")
        for losses in (1, 2, 3):
            agent = cluster.agents.pop("flaps")
            agent.kill()
            agent.wait()
            self.soon(cluster, lambda: cluster.node("flaps")["state"] == "lost")
            self.assertEqual(cluster.node("flaps")["faults"]["losses"], losses, cluster.told())
            cluster.start_node("flaps")
            self.soon(cluster, lambda: cluster.node("flaps")["state"] == "up")
        self.assertRegex(self.ctl(cluster, "nodes"), r"unsteady until \d\d:\d\d:\d\d UTC \(3 losses in ")
        job = cluster.submit(job_on(cluster))
        self.soon(cluster, lambda: cluster.job(job)["reason"]["code"] == "NodesUnsteady")
        self.restart(cluster)  # no loss of the node's, and what was counted is there
        self.soon(cluster, lambda: cluster.agent_joined("flaps") == 5)
        self.assertEqual(cluster.node("flaps")["faults"]["losses"], 3)
        self.assertEqual(cluster.job(job)["state"], "pending")
        self.assertEqual(self.ctl(cluster, "node", "clear-faults", "flaps"), "flaps is up\n")
        self.soon(cluster, lambda: cluster.job(job)["progress"]["step"] >= 5)
        self.assertEqual(len(cluster.events("node.unsteady")), 1)
        self.assertEqual([each["data"]["cleared"] for each in cluster.events("node.steady")], [True])
        cluster.call("DELETE", f"/v1/jobs/{job}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
