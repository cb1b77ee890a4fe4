"""tools/bench-report keeps every figure, shows the newest of each claim, and says which are worse than their goals."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
CLAIM = {"claim": "A thing is quick", "bench": "some", "metric": "thing", "figure": "value", "unit": "ms",
         "scale": 0.001, "goal": "<= 5", "command": "tools/bench some"}


class BenchReportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("tools", "bench", "docs"):
            (self.root / name).mkdir()
        shutil.copy(SOURCE / "tools/bench-report", self.root / "tools")
        (self.root / "bench/claims.json").write_text(json.dumps([CLAIM, {**CLAIM, "metric": "other"}]))
        (self.root / "bench/methods.md").write_text("{table}\n")
        (self.root / "bench/history.csv").write_text(
            "date,commit,bench,metric,value,unit,baseline,ratio\n2026-01-02,abcdef0,some,thing,1000,us,,\n")
        as_somebody = ["-c", "user.name=t", "-c", "user.email=t@t"]
        for words in (["init", "-q"], ["add", "."], [*as_somebody, "commit", "-qm", "t"]):
            subprocess.run(["git", *words], cwd=self.root, check=True)

    def report(self, *lines, check=False):
        figures = self.root / "docs/figures.jsonl"
        figures.write_text("".join(json.dumps(line) + "\n" for line in lines))
        words = ["--check"] if check else [figures] if lines else []
        return subprocess.run([self.root / "tools/bench-report", *words], capture_output=True, text=True)

    def page(self):
        return (self.root / "docs/performance.md").read_text()

    def test_a_figure_that_was_not_measured_now_stands_with_its_commit(self):
        self.assertEqual(self.report().returncode, 0)
        self.assertIn("| A thing is quick | 1 ms | ≤ 5 ms | `tools/bench some` | abcdef0, 2026-01-02 |", self.page())
        self.assertIn("| not measured yet |", self.page())

    def test_a_figure_worse_than_its_goal_is_named_there_and_here(self):
        line = {"bench": "some", "metric": "thing", "value": 6000.0, "unit": "us"}
        done = self.report(line, {"bench": "some", "curve": [1]})
        self.assertIn("worse than its goal: A thing is quick: 6 ms, goal ≤ 5 ms", done.stderr)
        self.assertIn("6 ms (**worse than the goal**)", self.page())
        self.assertEqual(len((self.root / "bench/history.csv").read_text().splitlines()), 3)

    def test_a_page_that_is_not_what_would_be_written_is_noticed(self):
        self.report()
        self.assertEqual(self.report(check=True).returncode, 0)
        (self.root / "docs/performance.md").write_text(self.page().replace("1 ms", "0.5 ms"))
        self.assertEqual(self.report(check=True).returncode, 1)


if __name__ == "__main__":
    unittest.main()
