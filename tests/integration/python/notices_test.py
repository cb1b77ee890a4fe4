"""Python workers that are told to leave, under the real daemon and agent: the time that one of them is granted holds
for all that leave with it, the job's state is kept, and the training goes on from it."""

import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
sys.path.insert(0, str(SOURCE / "tests/support"))
sys.path.insert(0, str(HERE))

from cluster import Cluster, eventually  # noqa: E402
from elastic_test import MISSING, library_settings, lines_of  # noqa: E402

TREE = {"tenants": [{"name": "vision", "notice_extension": "8s"}, {"name": "guests"}]}


class NoticesTest(unittest.TestCase):
    def setUp(self):
        if MISSING:
            self.skipTest(MISSING)
        self.cluster = Cluster(os.environ["TIDEPOOL_BIN_DIR"], slots=2, arguments=("--policy", "tidal"))
        self.addCleanup(self.cluster.close)
        self.lines_folder = self.cluster.folder / "lines"
        self.lines_folder.mkdir()
        self.cluster.call("PUT", "/v1/tenants", TREE)

    def wait_for(self, what, condition, seconds=120):
        answer = eventually(condition, seconds)
        if not answer:
            self.fail(f"{what} did not happen in {seconds} s; {self.cluster.job(self.job)}\n{self.cluster.logs()}")
        return answer

    def lines(self, event):
        return lines_of(self.lines_folder, event)

    def training(self, size, *arguments, tenant="vision"):
        program = ["/usr/bin/env", *library_settings(), sys.executable, str(HERE / "noticed_program.py"),
                   str(self.lines_folder), *map(str, arguments)]
        self.job = self.cluster.submit({
            "name": "python", "tenant": tenant, "batch": {"global": 16},
            "run": {"command": program, "env": {"PYTHONPATH": str(SOURCE / "workers/python")}},
            "elastic": {"min": size, "max": size, "grace": "2s"}})
        self.wait_for("steps", lambda: self.cluster.job(self.job)["progress"]["step"] > 5)

    def suspended(self, size, *arguments, tenant="vision"):
        self.training(size, *arguments, tenant=tenant)
        self.cluster.call("POST", f"/v1/jobs/{self.job}/suspend", {})
        self.wait_for("the end", lambda: self.cluster.job(self.job)["state"] == "suspended")

    def test_the_time_that_rank_0_is_granted_holds_for_all_and_the_state_is_kept(self):
        self.suspended(2, "until", 7, 4)
        told = self.lines("told")
        self.assertEqual(sorted(line["rank"] for line in told), [0, 1])
        self.assertEqual({line["reason"] for line in told}, {"SuspendedByUser"})
        self.assertEqual(len({line["decision"] for line in told}), 1)
        for line in told:
            self.assertAlmostEqual(line["by"] - line["at"], 2, delta=1)
        heard, saved = self.lines("heard")[0], self.lines("saved")[0]
        self.assertTrue(heard["granted"])
        self.assertAlmostEqual(heard["by"] - heard["at"], 7, delta=1)
        self.assertGreater(saved["at"] - told[0]["at"], 4)
        kept = self.cluster.events("job.parked")[-1]["data"]["step"]
        self.assertGreaterEqual(kept, saved["step"])
        answered = self.cluster.events("job.notice_answered")
        self.assertEqual([event["data"]["answer"] for event in answered], ["until"])
        self.assertRegex(answered[0]["data"]["text"], r"w-\d is saving, until \d\d:\d\d:\d\d UTC granted")
        self.cluster.call("POST", f"/v1/jobs/{self.job}/resume", {})
        self.wait_for("more steps", lambda: self.cluster.job(self.job)["progress"]["step"] > kept)
        self.assertEqual(self.cluster.events("job.restored")[-1]["data"]["steps_lost"], 0)

    def test_a_function_that_takes_longer_than_the_grace_costs_no_step(self):
        self.suspended(2, "saving", 0, 3600, tenant="guests")
        self.assertEqual(self.lines("saved"), [])
        suspended = self.cluster.events("job.suspended")[-1]["data"]
        self.assertEqual(suspended["kept_step"], suspended["step"])

    def test_a_job_that_is_cancelled_is_told_before_it_ends(self):
        self.training(2, "saving", 0, 0.5)
        self.cluster.call("DELETE", f"/v1/jobs/{self.job}")
        self.wait_for("the end", lambda: self.cluster.job(self.job)["state"] == "cancelled")
        self.assertEqual({line["reason"] for line in self.lines("told")}, {"CancelledByUser"})
        self.assertEqual(len(self.lines("saved")), 1)

    def test_too_much_is_cut_to_the_limit_of_the_tenant(self):
        self.suspended(1, "until", 3600, 3600)
        heard = self.lines("heard")[0]
        self.assertFalse(heard["granted"])
        self.assertAlmostEqual(heard["by"] - self.lines("told")[0]["by"], 8, delta=0.5)
        self.assertEqual(self.lines("saved"), [])

    def test_a_refusal_is_denied_and_nothing_is_granted_without_a_limit(self):
        self.suspended(1, "refuse", 0, 3600, tenant="guests")
        told, heard = self.lines("told")[0], self.lines("heard")[0]
        self.assertFalse(heard["granted"])
        self.assertAlmostEqual(heard["by"], told["by"], delta=0.2)
        self.assertEqual(self.lines("saved"), [])


if __name__ == "__main__":
    unittest.main()
