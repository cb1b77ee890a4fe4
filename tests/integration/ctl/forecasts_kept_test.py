"""How good forecasts were outlives the daemon: what has come about is observed, kept over a killed daemon and over one
that ends by itself, and counted on; a file that cannot be read is no reason not to start."""
import os
import pathlib
import signal
import sys
import unittest

BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE))

from tests.support.cluster import Cluster, eventually  # noqa: E402


def job(name, steps):
    return {"name": name, "elastic": {"min": 1, "max": 1, "cooldown": "1s"}, "work": {"samples": steps * 64},
            "batch": {"global": 64},
            "run": {"trainer": "charlm", "args": {"steps": steps, "data": str(SOURCE / "README.md")}}}


class ForecastsKept(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(str(BIN), slots=2, arguments=("--policy", "fifo"))
        self.addCleanup(self.cluster.close)

    def observed(self):
        """How many ends have come about, once a forecast has been made."""
        observed = self.cluster.call("GET", "/v1/forecast")["observed"]
        return None if observed is None else observed["end"]["all"]

    def test_what_was_observed_of_forecasts_outlives_the_daemon(self):
        cluster = self.cluster
        cluster.submit(job("long", 10_000_000))
        for n in range(2):
            short = cluster.submit(job(f"short-{n}", 4_000))
            told = eventually(lambda: (cluster.job(short)["forecast"] or {}).get("end") or
                              cluster.job(short)["state"] == "succeeded", 120)
            self.assertTrue(told, cluster.logs())
            self.assertTrue(eventually(lambda: cluster.job(short)["state"] == "succeeded", 120), cluster.logs())
        self.assertTrue(eventually(lambda: (self.observed() or 0) > 0, 60), cluster.logs())
        kept = cluster.folder / "state" / "forecasts.json"
        self.assertTrue(eventually(kept.exists), cluster.logs())
        before = self.observed()
        for by in (signal.SIGKILL, signal.SIGTERM):
            cluster.restart(("--policy", "fifo"), by=by)
            self.assertTrue(eventually(lambda: self.observed() is not None), cluster.logs())
            self.assertGreaterEqual(self.observed(), before)
        cluster.restart(("--policy", "fifo"), when=lambda: kept.write_text("{") or True)
        self.assertTrue(eventually(lambda: self.observed() is not None), cluster.logs())
        self.assertEqual(self.observed(), 0)
        self.assertIn("event=forecasts_unreadable", cluster.logs())


if __name__ == "__main__":
    unittest.main()
