"""The timeline and the workload of a job that really ran: grown, hit by a death, suspended, resumed and cancelled on a
real daemon. What the traces say is held against the daemon's own events and measurements."""
import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE))

from tests.support.cluster import Cluster, eventually  # noqa: E402

WAIT = 120  # seconds, for anything that a loaded machine takes long for


def job():
    args = {"data": str(SOURCE / "docs/policies.md"), "steps": 1000000, "hidden": 64}
    return {"name": "elastic-one", "run": {"trainer": "charlm", "args": args},
            "resources": {"gpus_per_worker": 1},
            "elastic": {"min": 1, "max": 3, "preferred": 1, "cooldown": "0s", "grace": "5s"},
            "batch": {"global": 64, "per_worker_max": 64}}


def milliseconds(event):
    """Within the day: the test may not run over midnight for longer than a job does."""
    hours, minutes, seconds = event["at"][11:-1].split(":")
    return (int(hours) * 60 + int(minutes)) * 60_000 + round(float(seconds) * 1000)


class JobTrace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(str(BIN), slots=3, arguments=("--policy", "fixed"))
        try:
            cls.live()
        except BaseException:
            print(cls.cluster.logs(), file=sys.stderr)
            cls.cluster.close()
            raise
        cls.addClassCleanup(cls.cluster.close)

    @classmethod
    def wait(cls, condition, what):
        if not eventually(condition, WAIT):
            raise AssertionError(f"it never came to pass that {what}: {cls.cluster.job(cls.id)}")

    @classmethod
    def wait_switch(cls, kind):
        cls.wait(lambda: any(event["data"]["kind"] == kind for event in cls.cluster.events("generation.switched")),
                 "a switch was a " + kind)

    @classmethod
    def live(cls):
        cls.nothing_yet = cls.schedctl("trace", "export")
        cls.id = cls.cluster.submit(job())
        cls.wait(lambda: cls.cluster.job(cls.id)["progress"]["step"] >= 10, "it trained")
        cls.cluster.resize(cls.id, 2)
        cls.wait_switch("grow")
        os.kill(max(cls.cluster.processes("tidepool-trainer")), signal.SIGKILL)
        cls.wait_switch("failure")
        cls.alive = cls.schedctl("trace", cls.id)
        cls.cluster.call("POST", f"/v1/jobs/{cls.id}/suspend")
        cls.wait(lambda: cls.cluster.job(cls.id)["state"] == "suspended", "it was suspended")
        cls.cluster.call("POST", f"/v1/jobs/{cls.id}/resume")
        cls.wait_switch("resume")
        cls.cluster.call("DELETE", f"/v1/jobs/{cls.id}")
        cls.wait(lambda: cls.cluster.job(cls.id)["state"] == "cancelled", "it was cancelled")
        cls.events = [event for event in cls.cluster.events() if event["job"] == cls.id]

    @classmethod
    def schedctl(cls, *words, **extra):
        environment = {**os.environ, "TIDEPOOL_URL": cls.cluster.url, "TIDEPOOL_TOKEN": cls.cluster.token, **extra}
        return subprocess.run([BIN / "schedctl", *map(str, words)], capture_output=True, text=True, timeout=60,
                              env=environment)

    def timeline(self):
        done = self.schedctl("trace", self.id)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)["traceEvents"]

    def spans(self, trace):
        lanes = {one["tid"]: one["args"]["name"] for one in trace if one["name"] == "thread_name"}
        found = {name: [] for name in lanes.values()}
        for one in trace:
            if one["ph"] == "X":
                found[lanes[one["tid"]]].append(one)
        return found

    def of(self, kind):
        return [event for event in self.events if event["type"] == kind]

    def test_each_change_of_its_generation_is_there_with_the_pause_that_was_reported(self):
        pauses = self.spans(self.timeline())["pauses of switches"]
        switched = self.of("generation.switched")
        self.assertLessEqual({"start", "grow", "failure", "resume"}, {event["data"]["kind"] for event in switched})
        self.assertEqual([pause["args"] for pause in pauses], [event["data"] for event in switched])
        begin = milliseconds(self.of("job.submitted")[0])
        free_from = 0
        for pause, event in zip(pauses, switched):
            self.assertEqual(pause["name"], f"{event['data']['kind']} to generation {event['data']['generation']}")
            end = (milliseconds(event) - begin) * 1000
            # The report of a pause may come when the next one has begun, which is shown from there on.
            whole = min(event["data"]["stall_ms"] * 1000, end - free_from)
            self.assertAlmostEqual(pause["dur"], whole, delta=1)
            self.assertEqual(pause["ts"] + pause["dur"], end)
            free_from = end

    def test_its_life_is_told_in_order_and_nothing_overlaps(self):
        trace = self.timeline()
        spans = self.spans(trace)
        for lane, list_ in spans.items():
            for before, after in zip(list_, list_[1:]):
                self.assertGreaterEqual(after["ts"], before["ts"] + before["dur"], lane)
        phases = [span["name"] for span in spans["job"]]
        self.assertEqual(phases[:3], ["waiting", "starting", "training"])
        self.assertIn("suspended", phases)
        self.assertEqual(phases[-1], "training")
        end = (milliseconds(self.of("job.finished")[0]) - milliseconds(self.of("job.submitted")[0])) * 1000
        self.assertEqual(spans["job"][-1]["ts"] + spans["job"][-1]["dur"], end)
        self.assertEqual(trace[0]["args"]["name"], self.id + " elastic-one")

    def test_steps_and_counters_are_the_daemons_measurements(self):
        trace = self.timeline()
        points = self.cluster.call("GET", f"/v1/jobs/{self.id}/metrics?limit=1000")["points"]
        counted = [one["args"]["step"] for one in trace if one["ph"] == "C" and one["name"] == "step"]
        self.assertEqual(counted, [point["step"] for point in points])
        last = self.spans(trace)["steps"][-1]["name"].replace(",", "").split()[-1]
        self.assertEqual(int(last), max(point["step"] for point in points))

    def test_the_timeline_of_a_job_that_lives_ends_now(self):
        self.assertEqual(self.alive.returncode, 0, self.alive.stderr)
        spans = self.spans(json.loads(self.alive.stdout)["traceEvents"])
        self.assertEqual(spans["job"][-1]["name"], "training")
        self.assertNotIn("suspended", [span["name"] for span in spans["job"]])

    def test_its_events_are_a_workload_of_the_time_its_workers_trained(self):
        journal = self.cluster.folder / "events.jsonl"
        journal.write_text(self.schedctl("events", self.id, "-o", "json", "--limit", "100000").stdout)
        done = self.schedctl("trace", "import", "--from", "journal", journal)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        [row] = csv.DictReader(io.StringIO(done.stdout))
        trained, size, since = 0, 0, 0
        for event in self.events:
            sizes = {"generation.switched": event["data"].get("to_size"), "job.suspended": 0, "job.parked": 0,
                     "job.finished": 0}
            if sizes.get(event["type"]) is not None:
                trained += size * (milliseconds(event) - since)
                size, since = sizes[event["type"]], milliseconds(event)
        self.assertEqual((row["name"], row["gpus"], row["status"]), (self.id, "1", "cancelled"))
        self.assertAlmostEqual(float(row["duration_s"]), trained / 1000, places=3)

    def test_the_exported_workload_can_be_simulated_and_counts_what_was_paid_for(self):
        path = self.cluster.folder / "history.csv"
        done = self.schedctl("trace", "export", "-o", path)
        self.assertEqual((done.returncode, done.stderr), (0, f"wrote 1 job to {path}\n"))
        [row] = csv.DictReader(path.open(newline=""))
        self.assertAlmostEqual(float(row["duration_s"]), self.cluster.job(self.id)["cost"]["slot_seconds"], places=3)
        self.assertEqual((row["gpus"], row["application"]), ("1", "elastic-one"))
        again = self.schedctl("trace", "import", "--from", "tidepool", path)
        self.assertEqual(again.stdout, path.read_text())
        run = self.schedctl("sim", "run", "--workload", path, "--cluster", "1x4", "--policy", "fifo", "-o", "json")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_what_cannot_be_given_is_refused_in_a_sentence(self):
        self.assertEqual(self.nothing_yet.returncode, 1)
        self.assertIn("no job of this daemon has run and ended yet", self.nothing_yet.stderr)
        unknown = self.schedctl("trace", "another-one")
        self.assertEqual((unknown.returncode, unknown.stdout), (3, ""))
        self.assertIn("no job is called", unknown.stderr)
        nowhere = self.schedctl("trace", "export", "-o", self.cluster.folder / "no" / "file.csv")
        self.assertEqual(nowhere.returncode, 2)
        self.assertIn("cannot be written", nowhere.stderr)
        alone = self.schedctl("trace", self.id, TIDEPOOL_URL="http://127.0.0.1:1")
        self.assertEqual((alone.returncode, alone.stdout), (5, ""))
        self.assertIn("127.0.0.1:1", alone.stderr)


if __name__ == "__main__":
    unittest.main()
