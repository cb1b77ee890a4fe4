"""Machines that their provider takes back: a real daemon, an agent for each node that looks for the notice, and a job
that trains on them."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE))

from tests.support.cluster import Cluster, eventually  # noqa: E402

PROGRAMS = ("schedulerd", "agentd", "tidepool-trainer")


class Spot(Cluster):
    """A daemon without a node of its own; each node's notice is the file NAME.notice."""

    def __init__(self):
        self.agents = {}
        super().__init__(str(BIN), slots=0)

    def _start(self, arguments):
        self._daemon = subprocess.Popen(
            [BIN / "schedulerd", "--listen", "127.0.0.1:0", "--state-dir", self.folder / "state", *arguments],
            stdout=subprocess.PIPE, stderr=self._errors, text=True)
        line = self._daemon.stdout.readline()
        if not line.startswith("ready "):
            self.close()
            raise RuntimeError((self.folder / "schedulerd.log").read_text())
        self.url = self._url = json.loads(line[len("ready "):])["url"]
        self._token = (self.folder / "state/admin.token").read_text().strip()

    def start_node(self, name, slots=2):
        log = open(self.folder / (name + ".log"), "a")
        with log:
            self.agents[name] = subprocess.Popen(
                [BIN / "agentd", "--daemon-socket", self.folder / "state/agent.sock", "--token-file",
                 self.folder / "state/agent.token", "--state-dir", self.folder / name, "--node", name, "--slots",
                 str(slots), "--isolation", "none", "--notice-file", self.notice_of(name), "--notice-period",
                 "100ms"], stdout=log, stderr=log)

    def restart_agent(self, name):
        """Its workers go on meanwhile."""
        self.agents[name].terminate()
        self.agents[name].wait()
        self.start_node(name)

    def close(self):
        for agent in self.agents.values():
            agent.kill()
            agent.wait()
        super().close()

    def notice_of(self, name):
        return self.folder / (name + ".notice")

    def give_notice(self, name, text):
        new = self.folder / "new.notice"
        new.write_text(text)
        new.rename(self.notice_of(name))

    def node(self, name):
        found = [node for node in self.call("GET", "/v1/nodes")["items"] if node["name"] == name]
        return found[0] if found else {"state": "", "drain": None, "slots": []}

    def busy(self, name):
        return sum(slot["busy"] for slot in self.node(name)["slots"])

    def cause(self, name):
        drain = self.node(name)["drain"]
        return drain and drain["cause"]

    def agent_joined(self, name):
        """How often, by the agent's own log."""
        return (self.folder / (name + ".log")).read_text().count("the daemon knows this node as")

    def told(self):
        agents = [(self.folder / (name + ".log")).read_text() for name in self.agents]
        events = [f"{event['type']} {event['data']}" for event in self.events() if event["type"] != "job.progressed"]
        return "\n".join([self.logs(), *agents, *events])


def job_on(cluster, **more):
    text = cluster.folder / "text.txt"
    text.write_text("the tide comes in and the tide goes out\n" * 100)
    return {"name": "spot", "run": {"trainer": "charlm",
                                    "args": {"data": [str(text)], "steps": 1000000, "hidden": 16}},
            "resources": {"gpus_per_worker": 1}, "elastic": {"min": 2, "max": 2},
            "checkpoint": {"dir": str(cluster.folder / "states")},
            "batch": {"global": 64, "per_worker_max": 64}, **more}


@unittest.skipUnless(all((BIN / name).exists() for name in PROGRAMS), "build the whole project")
class SpotNotice(unittest.TestCase):
    def cluster(self):
        cluster = Spot()
        self.addCleanup(cluster.close)
        return cluster

    def soon(self, cluster, condition, seconds=120):
        self.assertTrue(eventually(condition, seconds, 0.2), cluster.told())

    def steps_to(self, cluster, job, step):
        self.soon(cluster, lambda: cluster.job(job)["progress"]["step"] >= step)

    def check_no_sample_is_lost(self, cluster):
        audits = [event["data"] for event in cluster.events("data.epoch_audited")]
        self.assertGreater(len(audits), 1)
        for audit in audits:
            self.assertEqual((audit["used"], audit["checksum_ok"]), (audit["expected"], True), audits)
        for before, audit in zip(audits, audits[1:]):  # of short epochs, one event tells of several
            self.assertEqual(audit["epoch"], before["epoch"] + audit["epochs"], audits)

    def test_a_job_leaves_the_node_that_is_reclaimed_and_goes_on_without_a_lost_sample(self):
        cluster = self.cluster()
        cluster.start_node("spot")
        self.soon(cluster, lambda: cluster.node("spot")["state"] == "up")
        job = cluster.submit(job_on(cluster))
        self.steps_to(cluster, job, 50)
        cluster.start_node("stays")
        self.soon(cluster, lambda: cluster.node("stays")["state"] == "up")
        cluster.give_notice("spot", "600\n")
        self.soon(cluster, lambda: cluster.cause("spot") == "reclaim" and cluster.node("spot")["drain"]["drained"])
        self.assertRegex(cluster.node("spot")["drain"]["reason"], r"^the node will be reclaimed at \d\d:\d\d:\d\d UTC$")
        self.assertEqual(cluster.busy("stays"), 2)
        # The machine goes; nothing of the job is on it.
        gone = cluster.agents.pop("spot")
        gone.kill()
        gone.wait()
        self.soon(cluster, lambda: cluster.node("spot")["state"] == "lost")
        at = cluster.job(job)["progress"]["step"]
        epochs = len(cluster.events("data.epoch_audited"))
        self.steps_to(cluster, job, at + 50)
        self.soon(cluster, lambda: len(cluster.events("data.epoch_audited")) > epochs + 1)
        self.check_no_sample_is_lost(cluster)
        self.assertEqual(cluster.events("worker.lost"), [])
        switched = cluster.events("generation.switched")
        self.assertEqual([(each["data"]["steps_redone"], each["data"]["samples_repeated"]) for each in switched],
                         [(0, 0)] * len(switched))
        cluster.call("DELETE", f"/v1/jobs/{job}")

    def test_a_job_that_fits_nowhere_is_suspended_with_its_state_and_resumes_when_a_node_is_there(self):
        cluster = self.cluster()
        cluster.start_node("spot")
        self.soon(cluster, lambda: cluster.node("spot")["state"] == "up")
        job = cluster.submit(job_on(cluster, elastic={"min": 2, "max": 2, "grace": "60s"}))
        self.steps_to(cluster, job, 50)
        cluster.give_notice("spot", "16\n")  # shorter than its grace: it saves its state when half of it has passed
        self.soon(cluster, lambda: cluster.events("job.parked") and cluster.busy("spot") == 0)
        self.assertEqual(cluster.events("worker.lost"), [])
        saved = cluster.events("job.parked")[0]["data"]["step"]
        self.assertGreaterEqual(saved, 50)
        decided = json.dumps([event["data"] for event in cluster.events("decision.made")])
        self.assertIn("node-1 will be reclaimed by its provider in", decided)
        cluster.restart()  # what the notice caused is as durable as all else
        self.assertEqual(cluster.cause("spot"), "reclaim")
        cluster.start_node("new")
        self.soon(cluster, lambda: cluster.events("job.restored"))
        self.assertEqual(cluster.events("job.restored")[0]["data"]["step"], saved)
        self.steps_to(cluster, job, saved + 20)
        self.assertEqual(cluster.busy("new"), 2)
        epochs = len(cluster.events("data.epoch_audited"))
        self.soon(cluster, lambda: len(cluster.events("data.epoch_audited")) > epochs + 1)
        self.check_no_sample_is_lost(cluster)
        cluster.call("DELETE", f"/v1/jobs/{job}")

    def test_a_notice_is_told_again_without_an_event_and_ends_only_the_drain_that_it_caused(self):
        cluster = self.cluster()
        cluster.start_node("spot")
        self.soon(cluster, lambda: cluster.node("spot")["state"] == "up")
        cluster.give_notice("spot", "600")
        self.soon(cluster, lambda: cluster.cause("spot") == "reclaim")
        deadline = cluster.node("spot")["drain"]["deadline"]
        cluster.restart_agent("spot")
        self.soon(cluster, lambda: cluster.agent_joined("spot") == 2)
        cluster.restart()
        self.soon(cluster, lambda: cluster.agent_joined("spot") == 3)
        self.assertEqual(cluster.cause("spot"), "reclaim")
        self.assertEqual(cluster.node("spot")["drain"]["deadline"], deadline)
        self.assertEqual(len(cluster.events("node.reclaim_notice")), 1)
        cluster.notice_of("spot").unlink()
        self.soon(cluster, lambda: cluster.node("spot")["drain"] is None)
        self.assertEqual(len(cluster.events("node.reclaim_withdrawn")), 1)
        self.assertEqual(len(cluster.events("node.undrained")), 1)
        node = cluster.node("spot")["id"]
        cluster.call("POST", f"/v1/nodes/{node}/drain", {"deadline": "10m", "reason": "a new disk"})
        cluster.give_notice("spot", "300\n")
        self.soon(cluster, lambda: cluster.cause("spot") == "reclaim")
        cluster.notice_of("spot").unlink()
        self.soon(cluster, lambda: cluster.cause("spot") == "operator")
        self.assertEqual(cluster.node("spot")["drain"]["reason"], "a new disk")


if __name__ == "__main__":
    unittest.main(verbosity=2)
