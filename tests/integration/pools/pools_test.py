"""A daemon whose nodes come and go: a backlog makes nodes, they join, train, become idle and are given back.

The provider is the example in Python behind one that injects faults (faulty_provider.py); agents and training are real.
"""

import json
import os
import pathlib
import signal
import sys
import unittest

ROOT = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
sys.path.insert(0, str(ROOT / "tests/support"))
from cluster import Cluster, eventually  # noqa: E402

FAULTY = pathlib.Path(__file__).resolve().parent / "faulty_provider.py"
MARK = "TIDEPOOL_NODE_REQUEST"


def job(name, workers=1, steps=200, **more):
    args = {"data": str(ROOT / "README.md"), "steps": steps, "hidden": 16}
    return {"name": name, "run": {"trainer": "charlm", "args": args},
            "resources": {"gpus_per_worker": 1},
            "elastic": {"min": workers, "max": workers, "preferred": workers, "cooldown": "1s"},
            "batch": {"global": 32, "per_worker_max": 32}, **more}


def cluster_workers(cluster):
    return cluster.processes("tidepool-trainer")


class PoolCluster(Cluster):
    """No node of its own: all come from the pool."""

    def __init__(self, faults=None, pool=None):
        self.pool_changes = pool or {}
        self.faults = faults or {}
        super().__init__(str(BIN), slots=0)

    def _start(self, arguments):
        settings = {
            "folder": str(self.folder / "nodes"), "faults": str(self.folder / "faults.json"),
            "start": f"{BIN}/agentd --daemon-socket {self.folder}/state/agent.sock --token-file "
                     f"{self.folder}/state/agent.token --state-dir {{folder}} --node {{name}} --slots {{slots}} "
                     "--isolation none"}
        pool = {"name": "local", "provider": "exec", "command": [sys.executable, "-B", str(FAULTY)],
                "settings": settings, "slots_per_node": 2, "price_per_slot_hour": "1.00", "min": 0, "max": 2,
                "idle": "3s", "lead_time": "20s", "timeout": "10s", "list_every": "1s", **self.pool_changes}
        if not (self.folder / "faults.json").exists():
            (self.folder / "faults.json").write_text(json.dumps(self.faults))
        (self.folder / "nodes").mkdir(exist_ok=True)
        config = self.folder / "config.yaml"
        config.write_text(json.dumps({"pools": {"list": [pool]}}))  # JSON is YAML
        super()._start(["--config", str(config), *arguments])

    def agents(self):
        """Requests of machines that live: what a bill would show."""
        found = set()
        for pid in self.processes():
            try:
                entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            found |= {entry.decode().partition("=")[2] for entry in entries if entry.startswith(MARK.encode() + b"=")}
        return found

    def end_machines(self):
        """Agents and workers, all at once, as when the power goes."""
        for pid in [*cluster_workers(self), *self.processes("/agentd")]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def provider_calls(self):
        log = self.folder / "faults.json.log"
        return [line.split() for line in log.read_text().splitlines()] if log.exists() else []

    def up(self):
        return [node["name"] for node in self.call("GET", "/v1/nodes")["items"] if node["state"] == "up"]


class PoolsTest(unittest.TestCase):
    def cluster(self, **settings):
        cluster = PoolCluster(**settings)
        self.addCleanup(cluster.close)
        return cluster

    def wait(self, cluster, condition, what, seconds=120):
        self.assertTrue(eventually(condition, seconds, 0.2),
                        f"{what}\n{cluster.provider_calls()}\n"
                        f"{[(e['type'], e['data']) for e in cluster.events() if e['type'].startswith('pool.')]}\n"
                        f"{cluster.logs()}")

    def wait_state(self, cluster, job_id, state, seconds=180):
        self.wait(cluster, lambda: cluster.job(job_id)["state"] == state,
                  f"{job_id} is {cluster.job(job_id)['state']}, not {state}", seconds)

    def wait_gone(self, cluster):
        """Everything has been given back, and the provider has nothing left that costs money."""
        self.wait(cluster, lambda: not cluster.agents(), "machines are left")
        asked = {e["data"]["request"] for e in cluster.events("pool.node_asked")}

        def forgotten():
            gone = {e["data"]["request"] for e in cluster.events("pool.node_gone")}
            gone |= {e["data"]["request"] for e in cluster.events("pool.create_failed")
                     if e["data"]["fault"] in ("quota", "refused")}
            return asked <= gone
        self.wait(cluster, forgotten, "nodes are not forgotten")

    def test_a_backlog_makes_nodes_that_train_and_are_given_back_when_idle(self):
        cluster = self.cluster()
        job_id = cluster.submit(job("gang", workers=4, steps=400))
        self.wait_state(cluster, job_id, "succeeded")
        asked = cluster.events("pool.node_asked")
        self.assertEqual([e["data"]["name"] for e in asked], ["local-1", "local-2"])
        self.assertIn("2 more nodes for job-1, which needs 4 slots: present and coming nodes have room for none; a "
                      "node of 2 slots costs 2 an hour and joins in about 20 s", asked[0]["data"]["reason"]["text"])
        self.wait_gone(cluster)
        released = cluster.events("pool.node_released")
        self.assertTrue(all("it has held nothing for" in e["data"]["reason"]["text"] for e in released), released)
        self.assertEqual(len(released), 2)
        # Each was made once: no flip-flop while nothing happened.
        self.assertEqual(sum(call[0] == "create" for call in cluster.provider_calls()), 2)
        # The next backlog takes the same names again.
        again = cluster.submit(job("later", workers=1, steps=50))
        self.wait_state(cluster, again, "succeeded")
        self.wait_gone(cluster)

    def test_every_failed_creation_is_an_event_and_the_job_gets_its_node_in_the_end(self):
        cluster = self.cluster(faults={"create": ["quota", "garbage", "hang"], "list": ["garbage"]},
                               pool={"timeout": "4s"})
        job_id = cluster.submit(job("patient", workers=2, steps=100))
        self.wait_state(cluster, job_id, "succeeded", 400)
        self.wait_gone(cluster)
        failed = [e["data"] for e in cluster.events("pool.create_failed")]
        self.assertEqual([f["fault"] for f in failed][:3], ["quota", "garbage", "timeout"])
        self.assertIn("limit of 4 instances in this region", failed[0]["detail"])
        waits = [f["again_in_seconds"] for f in failed[:3]]
        self.assertEqual(waits, [15, 30, 60])
        self.assertIn("no JSON object; it printed \"<html>502 Bad", cluster.events("pool.list_failed")[0]["data"]["detail"])

    def test_a_node_that_does_not_end_is_ended_again_until_it_is_gone(self):
        cluster = self.cluster(faults={"delete": ["refused", "runs_on"]}, pool={"timeout": "15s"})
        self.wait_state(cluster, cluster.submit(job("short", workers=1, steps=30)), "succeeded")
        self.wait_gone(cluster)
        self.assertEqual([e["data"]["detail"] for e in cluster.events("pool.delete_failed")],
                         ["exit code 3: the cloud is down"])
        self.assertEqual(cluster.events("pool.bill_runs_on"), [])  # machines take minutes to go
        self.assertEqual([call[2] for call in cluster.provider_calls() if call[0] == "delete"],
                         ["refused", "runs_on", "well"])

    def test_a_node_that_never_joins_is_given_back_and_another_is_asked_for(self):
        cluster = self.cluster(faults={"create": ["never_joins"]}, pool={"lead_time": "1s"})
        job_id = cluster.submit(job("waits", workers=1, steps=50))
        self.wait_state(cluster, job_id, "succeeded", 300)
        why = [e["data"]["reason"]["text"] for e in cluster.events("pool.node_released")]
        self.assertIn("no agent has joined from it within", why[0])
        self.wait_gone(cluster)

    def test_a_daemon_that_is_killed_loses_no_node_and_asks_for_none_twice(self):
        cluster = self.cluster(pool={"idle": "5s"})
        cluster.submit(job("long", workers=2, steps=200_000))
        self.wait(cluster, lambda: cluster.events("pool.node_asked"), "nothing is asked for")
        cluster.restart(by=signal.SIGKILL)  # anywhere between asking and joining
        self.wait(cluster, lambda: cluster.up() == ["local-1"], "the node does not join")
        self.wait_state(cluster, "job-1", "running")
        cluster.restart(by=signal.SIGKILL)
        self.wait(cluster, lambda: cluster.up() == ["local-1"], "the node is not back")
        self.assertEqual(len(cluster.agents()), 1)
        cluster.call("DELETE", "/v1/jobs/job-1")
        cluster.restart(by=signal.SIGKILL)
        self.wait_gone(cluster)
        self.assertEqual(len(cluster.events("pool.node_asked")), 1)

    def test_a_machine_that_is_taken_away_is_replaced_and_its_job_goes_on(self):
        cluster = self.cluster()
        cluster.submit(job("victim", workers=2, steps=200_000))
        self.wait_state(cluster, "job-1", "running")
        cluster.end_machines()
        self.wait(cluster, lambda: cluster.events("pool.node_gone"), "its end is not seen")
        self.wait(cluster, lambda: len(cluster.events("pool.node_joined")) >= 2, "it is not replaced")
        self.wait_state(cluster, "job-1", "running")
        cluster.call("DELETE", "/v1/jobs/job-1")
        self.wait_gone(cluster)

    def test_a_node_whose_creation_is_never_answered_is_used_when_it_joins(self):
        cluster = self.cluster(faults={"create": ["hang_late"]}, pool={"timeout": "4s"})
        self.wait_state(cluster, cluster.submit(job("lucky", workers=1, steps=50)), "succeeded")
        self.wait_gone(cluster)
        self.assertEqual(len(cluster.events("pool.node_asked")), 1)

    def test_pools_need_a_state_directory_that_lasts(self):
        import subprocess
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "config.yaml"
            config.write_text("pools: {list: [{name: p, provider: exec, command: [x], slots_per_node: 1, max: 1}]}")
            done = subprocess.run([BIN / "schedulerd", "--dev", "--listen", "127.0.0.1:0", "--config", config],
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("pools need --state-dir", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
