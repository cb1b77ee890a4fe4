"""A budget that runs out, on a real daemon: jobs save their state and wait, one that comes waits too, both outlive a
killed daemon, and go on by themselves once the operator has raised the budget."""
import csv
import json
import os
import pathlib
import signal
import sys
import tempfile
import unittest
from decimal import Decimal

BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE))

from tests.support.cluster import Cluster, eventually  # noqa: E402

JOB = {"name": "a", "tenant": "vision", "elastic": {"min": 1, "max": 1, "cooldown": "1s"},
       "run": {"trainer": "charlm", "args": {"steps": 10_000_000, "data": str(SOURCE / "README.md")}}}


def tree(limit):
    return {"tenants": [{"name": "vision", "budget": {"limit": limit, "window": "month", "thresholds": [
        {"percent": 50, "action": "warn"}, {"percent": 100, "action": "pause"}]}}, {"name": "speech"}]}


class Budgets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "pool.yaml").write_text("local: {price_per_slot_hour: '3600'}\n")  # one a second
        self.arguments = ("--policy", "tidal", "--config", str(self.folder / "pool.yaml"))
        self.cluster = Cluster(str(BIN), slots=2, arguments=self.arguments)
        self.addCleanup(self.cluster.close)

    def schedctl(self, *words, stdin=""):
        return self.cluster.schedctl(*words, stdin=stdin, columns=200)

    def budget(self):
        return self.cluster.call("GET", "/v1/tenants/vision")["now"]["budget"]

    def test_jobs_of_a_spent_budget_wait_with_their_state_saved_and_go_on_when_it_is_raised(self):
        cluster = self.cluster
        self.assertEqual(self.schedctl("tenants", "apply", "-", "--yes", stdin=json.dumps(tree("30.00")))[0], 0)
        first = cluster.submit(JOB)
        self.assertTrue(eventually(lambda: cluster.job(first)["progress"]["step"] > 0), cluster.logs())
        self.assertEqual(self.budget()["rate_per_hour"], "3600.00")
        self.assertTrue(eventually(lambda: cluster.job(first)["state"] == "pending"), cluster.logs())

        told = [event["data"] for event in cluster.events("budget.reached")]
        self.assertEqual([(data["percent"], data["action"]) for data in told], [(50, "warn"), (100, "pause")])
        # The daemon wakes for the moment itself: what is beyond the limit is what waking took.
        self.assertGreaterEqual(float(told[1]["spent"]), 30.0)
        self.assertLess(float(told[1]["spent"]), 33.0)
        kept = cluster.job(first)["progress"]["step"]
        self.assertEqual(cluster.events("job.parked")[-1]["data"]["step"], kept)
        budget = self.budget()
        self.assertEqual((budget["action"], budget["rate_per_hour"]), ("pause", "0.00"))
        self.assertIn("pauses its jobs", self.schedctl("tenants", "show", "vision")[1])
        second = cluster.submit({**JOB, "name": "b"})
        other = cluster.submit({**JOB, "name": "c", "tenant": "speech"})
        self.assertTrue(eventually(lambda: cluster.job(other)["progress"]["step"] > 10), cluster.logs())
        self.assertEqual(cluster.job(second)["reason"]["code"], "BudgetSpent")
        self.assertIn("tenant vision has spent its budget of 30.00, which is renewed at",
                      self.schedctl("why", second)[1])

        # What was used this month is what the budget has counted; a job's own cost is rounded down to a millionth.
        code, out, _ = self.schedctl("usage", "--by", "tenant,job", "--window", "month", "--csv")
        self.assertEqual(code, 0)
        rows = list(csv.DictReader(out.splitlines()))
        used = sum(Decimal(row["cost"]) for row in rows if row["tenant"] == "vision")
        self.assertTrue(0 <= Decimal(budget["spent"]) - used < Decimal("0.000002"), rows)
        self.assertEqual({row["job"] for row in rows}, {first, other})
        self.assertIn("vision", self.schedctl("usage", "--by", "tenant,day")[1])
        by_class = list(csv.DictReader(self.schedctl("usage", "--by", "job,class", "--csv")[1].splitlines()))
        parts = {row["class"]: Decimal(row["cost"]) for row in by_class if row["job"] == first}
        self.assertEqual(sum(parts.values()), sum(Decimal(row["cost"]) for row in rows if row["job"] == first))
        self.assertTrue(0 < parts["boot_and_resize"] < parts["useful"], parts)

        cluster.restart(self.arguments, by=signal.SIGKILL)
        self.assertEqual(self.budget()["spent"], budget["spent"])
        self.assertEqual(cluster.job(first)["state"], "pending")
        self.assertEqual(self.schedctl("cancel", other)[0], 0)
        out = self.schedctl("tenants", "apply", "-", "--yes", stdin=json.dumps(tree("100000.00")))[1]
        self.assertIn("~ vision: budget", out)
        self.assertIn("warning: the budget of tenant vision lets jobs continue at once: 2 jobs that it holds now may start "
                      f"or grow ({first} a, {second} b)", out)
        self.assertTrue(eventually(lambda: cluster.job(first)["progress"]["step"] > kept), cluster.logs())
        self.assertTrue(eventually(lambda: cluster.job(second)["progress"]["step"] > 10), cluster.logs())
        restored = [event["data"]["steps_lost"] for event in cluster.events("job.restored") if event["job"] == first]
        self.assertEqual(restored, [0])
        self.assertEqual(len(cluster.events("budget.reached")), 2)


if __name__ == "__main__":
    unittest.main()
