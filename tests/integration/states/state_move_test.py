"""A job goes on on another node with the state that its node saved, though the two share no folder: real daemons behind
TLS, agents that have joined with a token, and training processes."""
import json
import os
import pathlib
import signal
import ssl
import sys
import tempfile
import unittest
import urllib.request

SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE))
sys.path.insert(0, str(SOURCE / "tests/integration/tls"))

import join_test  # noqa: E402
from join_test import BIN, PROGRAMS, eventually  # noqa: E402


class Daemon(join_test.Daemon):
    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.ready["url"] + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
        context = ssl.create_default_context(cafile=self.ready["ca"])
        with urllib.request.urlopen(request, timeout=30, context=context) as reply:
            return json.loads(reply.read() or b"null")

    def events(self, kind):
        found, cursor = [], ""
        while True:
            page = self.call("GET", "/v1/events?limit=500" + (f"&cursor={cursor}" if cursor else ""))
            found += [event for event in page["items"] if event["type"] == kind]
            if page["next_cursor"] is None:
                return found
            cursor = page["next_cursor"]


@unittest.skipUnless(all((BIN / name).exists() for name in PROGRAMS), "build the whole project")
class StateMove(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tidepool-states-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.daemon = Daemon(self.folder)
        self.addCleanup(self.daemon.close)
        self.token = self.daemon.node_token("--uses", "9")["token"]
        self.agents = {}

    def told(self):
        logs = [path.read_text()[-3000:] for path in sorted(self.folder.glob("*.log"))]
        return "\n".join([*logs, *(path.read_text(errors="replace")[-2000:]
                                   for path in sorted(self.folder.glob("*/logs/*")))])

    def soon(self, holds, seconds=120):
        self.assertTrue(eventually(holds, seconds, 0.1), self.told())

    def start_node(self, name, *words):
        self.agents[name] = self.daemon.join(name, self.token, "--name", name, *words)
        self.soon(lambda: self.daemon.is_up(name))

    def submit(self, hidden=16):
        text = self.folder / "text.txt"
        text.write_text("the tide comes in and the tide goes out\n" * 400)
        return self.daemon.call("POST", "/v1/jobs", {
            "name": "moves", "run": {"trainer": "charlm",
                                     "args": {"data": [str(text)], "steps": 1000000, "hidden": hidden}},
            "resources": {"gpus_per_worker": 1}, "elastic": {"min": 2, "max": 2, "grace": "60s"},
            "batch": {"global": 64, "per_worker_max": 64}})["id"]

    def step_of(self, job):
        return self.daemon.call("GET", f"/v1/jobs/{job}")["progress"]["step"]

    def states_at(self, name, job):
        return list(self.folder.glob(f"{name}/jobs/{job}/checkpoints/*.tidepool"))

    def leave_a_state_on(self, name, job, step=30):
        """The node is drained, so that the job saves its state there and waits. Returns what the state's event says."""
        self.soon(lambda: self.step_of(job) >= step)
        node = self.daemon.node(name)["id"]
        self.daemon.call("POST", f"/v1/nodes/{node}/drain", {"deadline": "10s", "reason": "a new disk"})
        self.soon(lambda: self.daemon.events("job.parked") and self.states_at(name, job))
        return self.daemon.events("job.parked")[0]["data"]

    def check_went_on(self, job, saved, source, target):
        self.soon(lambda: self.daemon.events("job.restored"))
        brought = self.daemon.events("job.state_brought")
        self.assertEqual([(each["data"]["step"], each["data"]["from"], each["data"]["to"]) for each in brought],
                         [(saved["step"], self.daemon.node(source)["id"], self.daemon.node(target)["id"])])
        restored = self.daemon.events("job.restored")[0]["data"]
        self.assertEqual((restored["step"], restored["steps_lost"], restored["samples_lost"]), (saved["step"], 0, 0))
        self.soon(lambda: self.step_of(job) > saved["step"] + 20)
        self.assertEqual(self.daemon.events("job.state_left"), [])
        here = self.states_at(target, job)
        self.assertEqual(len(here), 1)
        self.assertFalse((self.folder / target / "jobs" / job / "incoming").exists())

    def test_a_job_leaves_a_drained_node_and_goes_on_elsewhere_at_the_step_that_was_saved(self):
        self.start_node("one")
        job = self.submit()
        saved = self.leave_a_state_on("one", job)
        original = self.states_at("one", job)[0].read_bytes()
        self.start_node("two")
        self.check_went_on(job, saved, "one", "two")
        self.assertEqual(self.states_at("two", job)[0].read_bytes(), original)
        reasons = json.dumps([event["data"] for event in self.daemon.events("decision.made")])
        self.assertIn(f"its state of step {saved['step']:,} is transferred from node-1 to node-2", reasons)

    def test_a_transfer_survives_both_agents_and_the_daemon_and_goes_on_where_it_was(self):
        self.start_node("one", "--state-rate", "1MiB")
        job = self.submit(hidden=8192)
        saved = self.leave_a_state_on("one", job, 5)
        self.assertGreater(saved["bytes"], 6 << 20, "large enough to be caught on its way")
        self.start_node("two")
        parts = lambda: list(self.folder.glob(f"two/jobs/{job}/incoming/*.part"))  # noqa: E731
        size = lambda: parts()[0].stat().st_size if parts() else 0  # noqa: E731
        self.soon(lambda: size() > 1 << 20)
        self.daemon.restart(signal.SIGKILL)
        for name, words in (("one", ["--state-rate", "1MiB"]), ("two", [])):
            before = size()
            self.agents[name][0].kill()
            self.agents[name][0].wait()
            self.assertGreaterEqual(size(), before)
            self.agents[name] = self.daemon.run_agent(name, *words)
        self.check_went_on(job, saved, "one", "two")

    def test_a_job_whose_state_went_with_its_node_starts_without_it_and_says_so(self):
        self.start_node("one", "--state-rate", "1MiB")
        job = self.submit(hidden=8192)
        self.leave_a_state_on("one", job, 5)
        self.start_node("two")
        self.soon(lambda: list(self.folder.glob(f"two/jobs/{job}/incoming/*.part")))
        self.agents["one"][0].kill()
        self.agents["one"][0].wait()
        self.soon(lambda: self.daemon.events("job.state_left"))
        self.assertIn("no byte of it has come for 30", self.daemon.events("job.state_left")[0]["data"]["why"])
        self.soon(lambda: self.daemon.events("job.restored"))
        self.assertEqual(self.daemon.events("job.restored")[0]["data"]["step"], 0)
        self.assertEqual(self.daemon.events("job.state_brought"), [])
        self.soon(lambda: self.step_of(job) > 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
