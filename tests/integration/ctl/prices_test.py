"""Prices over time by the command line, on a real daemon: a price that changes while the daemon is dead is charged from
its very second on, and the list is set from a file, shown, exported, and refused."""
import datetime
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest
from decimal import Decimal

BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE))

from tests.support.cluster import Cluster, eventually  # noqa: E402

JOB = {"name": "a", "tenant": "demo", "elastic": {"min": 1, "max": 1, "cooldown": "1s"},
       "run": {"trainer": "charlm", "args": {"steps": 10_000_000, "data": str(SOURCE / "README.md")}}}


def timestamp(unix):
    return datetime.datetime.fromtimestamp(unix, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Prices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "pool.yaml").write_text("local: {price_per_slot_hour: '3600'}\n")  # one a second
        self.arguments = ("--policy", "tidal", "--config", str(self.folder / "pool.yaml"))
        self.cluster = Cluster(str(BIN), slots=2, arguments=self.arguments)
        self.addCleanup(self.cluster.close)

    def schedctl(self, *words, stdin=""):
        return self.cluster.schedctl(*words, stdin=stdin, columns=160)

    def test_a_price_that_changes_while_the_daemon_is_dead_is_charged_from_its_second_on(self):
        cluster = self.cluster
        job = cluster.submit(JOB)
        self.assertTrue(eventually(lambda: cluster.job(job)["progress"]["step"] > 0), cluster.logs())
        change = int(time.time()) + 4
        rules = [{"name": "cpu", "slot_type": "cpu", "entries": [{"from": timestamp(change), "price": "7200"}]}]
        code, out, err = self.schedctl("prices", "apply", "-", "--yes", stdin=json.dumps({"rules": rules}))
        self.assertEqual((code, err), (0, ""))
        self.assertIn(f"+ cpu: entries [7200.00 from {timestamp(change)}]", out)
        self.assertLess(time.time(), change, "the list was set too late to be tested")
        cluster.restart(self.arguments, by=signal.SIGKILL, when=lambda: time.time() > change + 1)

        changed = eventually(lambda: cluster.events("prices.changed"))
        self.assertEqual([event["data"]["at_unix"] for event in changed], [change])
        # The one slot is its own from the decision on that started its worker; what it has cost is told as of its
        # newest report.
        started = Decimal(str(seconds_of(cluster.events("worker.started")[0]["at"])))

        def charged():
            cost = cluster.call("GET", f"/v1/jobs/{job}/cost")
            return cost if started + Decimal(cost["slot_seconds"]) > change + 1 else None

        cost = eventually(charged)
        self.assertTrue(cost, cluster.logs())
        # A dollar a second, and another one for each second since the change.
        held = Decimal(cost["slot_seconds"])
        self.assertAlmostEqual(Decimal(cost["amount"]), held + (started + held - change), delta=Decimal("0.002"))
        self.assertEqual(cost["per_hour"], "7200.00")
        self.assertIn("7200.00 by cpu", self.schedctl("nodes")[1])
        self.assertIn("7200.00", self.schedctl("prices")[1])

    def test_a_list_is_shown_before_it_is_applied_and_exported_as_it_was_set(self):
        file = self.folder / "prices.yaml"
        file.write_text("""\
rules:
  - name: nights
    slot_type: cpu
    spot_discount: 60
    entries:
      - price: 2.50
        schedule:
          - {hours: 22-06, price: 1.90}
          - {days: [sat, sun], price: 2.10}
      - from: 2099-12-01T00:00:00Z
        price: 2.80
""")
        # Without a node of the type the list would be warned of.
        self.assertTrue(eventually(lambda: self.cluster.call("GET", "/v1/nodes")["items"]), self.cluster.logs())
        self.assertIn("no prices are listed", self.schedctl("prices")[1])
        code, out, err = self.schedctl("prices", "apply", file)
        self.assertEqual(code, 1)
        self.assertIn("+ nights: entries [2.50, 1.90 in 22-06, 2.10 in 00-24 of sat, sun, 2.80 from 2099-12-01", out)
        self.assertIn("apply it: schedctl prices apply", err)
        self.assertEqual(self.cluster.call("GET", "/v1/prices")["rules"], [])
        self.assertEqual(self.schedctl("prices", "apply", file, "--yes")[0], 0)
        self.assertIn("nights", self.schedctl("prices", "show")[1])
        code, exported, _ = self.schedctl("prices", "export")
        self.assertEqual(code, 0)
        self.assertEqual(self.schedctl("prices", "diff", "-", stdin=exported)[1], "no change\n")
        node = self.cluster.call("GET", "/v1/nodes")["items"][0]
        self.assertEqual((node["price_rule"], node["own_price_per_slot_hour"]), ("nights", "3600.00"))
        file.write_text("rules:\n  - name: nights\n    entries:\n      - {price: 1, form: tomorrow}\n")
        code, _, err = self.schedctl("prices", "apply", file, "--yes")
        self.assertNotEqual(code, 0)
        self.assertIn("form", err)
        self.assertEqual(self.schedctl("prices", "apply", "-", "--yes", stdin="rules: []")[0], 0)
        self.assertEqual(self.cluster.call("GET", "/v1/nodes")["items"][0]["price_per_slot_hour"], "3600.00")


if __name__ == "__main__":
    unittest.main()
