"""Programs that are told to leave, on a real daemon: one that asks for more time gets it and saves, one that asks for
too much is cut to the limit of its tenant, one that refuses is told that it may not, and one that is done goes at
once."""
import json
import os
import pathlib
import signal
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(SOURCE))

from tests.support.cluster import Cluster, eventually  # noqa: E402

TREE = {"tenants": [{"name": "lab", "notice_extension": "8s", "tenants": [{"name": "vision"}]}, {"name": "guests"}]}
GRACE = 2.0


class Notices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cluster = Cluster(str(BIN), slots=2, arguments=("--policy", "tidal"))
        self.addCleanup(self.cluster.close)
        self.schedctl("tenants", "apply", "-", "--yes", stdin=json.dumps(TREE))

    def schedctl(self, *words, stdin=""):
        code, out, err = self.cluster.schedctl(*words, stdin=stdin, columns=200)
        self.assertEqual(code, 0, err)
        return out

    def traced(self, event):
        trace = self.folder / "trace"
        lines = trace.read_text().splitlines() if trace.exists() else []
        found = [line for line in map(json.loads, lines) if line["event"] == event]
        return found[-1] if found else None

    def wait(self, what, condition, seconds=60):
        answer = eventually(condition, seconds)
        self.assertTrue(answer, f"{what} did not come\n{self.cluster.logs()}")
        return answer

    def suspended(self, answer, *, asked=0.0, saving=0.0, tenant="vision"):
        """A job whose program answers so, from its suspension on. Returns the job and what its program was told."""
        program = ["python3", str(HERE / "saving_program.py"), str(self.folder / "trace"), answer, str(asked),
                   str(saving)]
        job = self.cluster.submit({"name": "a", "tenant": tenant, "elastic": {"min": 1, "max": 1, "grace": "2s"},
                                   "run": {"command": program, "resize": "restart"}})
        self.assertFalse(self.wait("the program", lambda: self.traced("started"))["notice_is_there"])
        self.cluster.call("POST", f"/v1/jobs/{job}/suspend", {})
        return job, self.wait("the notice", lambda: self.traced("told"))

    def held(self, job, told):
        """Seconds from the notice until the job holds nothing."""
        self.wait("the end", lambda: self.cluster.job(job)["state"] == "suspended")
        ended = self.cluster.events("job.suspended")[-1]["at"]
        decided = [event for event in self.cluster.events("decision.made")
                   if event["decision"] == told["notice"]["decision"]]
        self.assertEqual(len(decided), 1)
        return seconds_of(ended) - seconds_of(decided[0]["at"])

    def answered(self):
        return self.cluster.events("job.notice_answered")[-1]["data"]

    def test_a_program_that_asks_for_more_time_gets_it_and_saves(self):
        job, told = self.suspended("until", asked=6, saving=4)
        self.assertEqual(told["notice"]["reason"], "SuspendedByUser")
        self.assertIn("suspended", told["notice"]["sentence"])
        self.assertAlmostEqual(told["notice"]["by_unix_ms"] / 1000 - told["at"], GRACE, delta=1.0)
        heard = self.wait("an answer to the answer", lambda: self.traced("heard"))["notice"]
        self.assertTrue(heard["granted"])
        self.assertAlmostEqual(heard["by_unix_ms"] / 1000 - told["at"], 6, delta=1.0)
        self.assertRegex(self.schedctl("why", job), r"w-1 is saving, until \d\d:\d\d:\d\d UTC granted")
        self.assertGreater(self.held(job, told), 4)
        self.assertIsNotNone(self.traced("saved"))
        self.assertGreater(self.answered()["added_seconds"], 3)

    def test_a_program_that_asks_for_too_much_is_cut_to_the_limit_and_ended(self):
        job, told = self.suspended("until", asked=3600, saving=3600)
        heard = self.wait("an answer to the answer", lambda: self.traced("heard"))["notice"]
        self.assertFalse(heard["granted"])
        self.assertEqual(heard["extended_ms"], 8000)
        held = self.held(job, told)
        self.assertGreater(held, GRACE + 8 - 0.2)
        self.assertLess(held, GRACE + 8 + 5)
        self.assertIsNone(self.traced("saved"))

    def test_a_program_of_a_tenant_without_a_limit_gets_nothing_more(self):
        job, told = self.suspended("until", asked=6, saving=4, tenant="guests")
        self.assertFalse(self.wait("an answer to the answer", lambda: self.traced("heard"))["notice"]["granted"])
        self.assertLess(self.held(job, told), 4)
        self.assertIsNone(self.traced("saved"))

    def test_a_program_that_refuses_is_told_that_it_may_not_and_is_ended(self):
        job, told = self.suspended("refuse", saving=3600)
        heard = self.wait("an answer to the answer", lambda: self.traced("heard"))["notice"]
        self.assertEqual((heard["granted"], heard["extended_ms"]), (False, 0))
        self.assertLess(self.held(job, told), GRACE + 5)
        self.assertIn("refuses to leave, which is denied", self.answered()["text"])

    def test_a_program_that_is_done_goes_at_once(self):
        job, told = self.suspended("done")
        self.assertLess(self.held(job, told), GRACE)

    def test_nonsense_in_the_answer_file_is_no_answer(self):
        job, told = self.suspended("nonsense", saving=3600)
        self.assertLess(self.held(job, told), GRACE + 5)
        self.assertEqual(self.cluster.events("job.notice_answered"), [])
        for log in ((self.cluster.folder / "state/agent.log").read_text(), self.schedctl("logs", job)):
            self.assertIn("wrote in its answer file is no answer", log)

    def test_a_program_tells_the_length_of_its_work_by_a_file(self):
        program = ("import os, time\n"
                   "open(os.environ['TIDEPOOL_LENGTH_FILE'], 'w').write('{\"steps\": 4321}\\n')\n"
                   "time.sleep(3600)")
        job = self.cluster.submit({"name": "long", "elastic": {"min": 1, "max": 1, "grace": "2s"}, "tenant": "guests",
                                   "run": {"command": ["python3", "-c", program], "resize": "restart"}})
        self.wait("its length", lambda: self.cluster.job(job)["progress"]["steps_total"] == 4321)

    def test_what_was_granted_outlives_a_killed_daemon(self):
        job, told = self.suspended("until", asked=7, saving=5)
        self.assertTrue(self.wait("an answer to the answer", lambda: self.traced("heard"))["notice"]["granted"])
        self.cluster.restart(("--policy", "tidal"), by=signal.SIGKILL)
        self.wait("the end", lambda: self.cluster.job(job)["state"] == "suspended")
        self.assertIsNotNone(self.traced("saved"))
        self.assertEqual(len(self.cluster.events("job.notice_answered")), 1)


def seconds_of(at):
    """Of "2026-11-20T21:53:31.004Z", within a day."""
    hours, minutes, seconds = at.rstrip("Z").split("T")[1].split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


if __name__ == "__main__":
    unittest.main()
