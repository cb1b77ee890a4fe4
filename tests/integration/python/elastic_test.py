"""Python workers under the real daemon and agent: they join, leave and die, and the training goes on.

The facts are taken from two sides: from the lines that the workers write, and from the daemon's events.
"""

import collections
import json
import os
import pathlib
import signal
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
sys.path.insert(0, str(SOURCE / "tests/support"))

from cluster import Cluster, eventually  # noqa: E402

try:
    import torch  # noqa: F401
    MISSING = None
except ImportError as error:
    MISSING = f"{sys.executable} cannot import torch ({error}); tools/install-packages --checks installs Debian's"


def library_settings():
    """NAME=value for env(1): the library as it was built, with the sanitizers' runtime before it if it has them. A job
    file may not set these, so that no tenant steers the loader of another's programs."""
    names = ("TIDEPOOL_LIBRARY", "LD_PRELOAD", "ASAN_OPTIONS")
    return [f"{name}={os.environ['TEST_' + name]}" for name in names if os.environ.get("TEST_" + name)]


def lines_of(folder, event):
    """What the workers of training_program.py wrote there."""
    found = []
    for path in folder.glob("*.jsonl"):
        for line in path.read_text().splitlines():
            if line.endswith("}"):
                found.append({**json.loads(line), "worker": path.stem})
    return [line for line in found if line["event"] == event]


class ElasticTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if MISSING:
            self.skipTest(MISSING)
        self.cluster = Cluster(os.environ["TIDEPOOL_BIN_DIR"], slots=4)
        self.addCleanup(self.cluster.close)
        self.lines_folder = self.cluster.folder / "lines"
        self.lines_folder.mkdir()

    def start(self, size, *arguments, batch=64, rule="constant"):
        script = [str(HERE / "training_program.py"), str(self.lines_folder), "--batch", str(batch), *arguments]
        self.submit(size, script, {"global": batch, "per_worker_max": batch, "on_resize": rule})

    def submit(self, size, script, batch):
        program = ["/usr/bin/env", *library_settings(), sys.executable, *script]
        self.job = self.cluster.submit({
            "name": "python", "run": {"command": program, "env": {"PYTHONPATH": str(SOURCE / "workers/python")}},
            "elastic": {"min": 1, "max": 4, "preferred": size, "cooldown": "0s"},
            "batch": batch, "scaling": {"policy": "fixed"}})

    def lines(self, event="step"):
        return lines_of(self.lines_folder, event)

    def wait_for(self, what, condition, seconds=120):
        answer = eventually(condition, seconds)
        if not answer:
            self.fail(f"{what} did not happen in {seconds} s; {self.cluster.job(self.job)}\n{self.cluster.logs()}")
        return answer

    def wait_steps(self, size, count, after=0):
        def enough():
            steps = {line["step"] for line in self.lines() if line["size"] == size and line["step"] > after}
            return len(steps) >= count and max(steps)
        return self.wait_for(f"{count} steps of {size} workers", enough)

    def wait_end(self):
        self.wait_for("the end", lambda: self.cluster.job(self.job)["state"] in ("succeeded", "failed"))
        self.assertEqual(self.cluster.job(self.job)["state"], "succeeded", self.cluster.logs())

    def check_replicas(self):
        """All workers ended every step with the same bits, and no step number was committed in two ways."""
        digests = collections.defaultdict(set)
        for line in self.lines():
            digests[line["step"]].add(line["digest"])
        different = [step for step, found in digests.items() if len(found) > 1]
        self.assertEqual(different, [], "steps after which replicas differed")
        self.assertEqual(sorted(digests), list(range(1, len(digests) + 1)), "every step was committed")

    def check_audits(self, epochs):
        def audits():
            found = self.cluster.events("data.epoch_audited")
            return found if len(found) >= epochs else None
        found = self.wait_for("the audits", audits, 20)
        self.assertEqual([event["data"]["epoch"] for event in found], list(range(epochs)))
        for event in found:
            self.assertEqual((event["data"]["used"], event["data"]["expected"], event["data"]["checksum_ok"]),
                             (600, 600, True))

    def test_workers_join_leave_and_die_and_replicas_stay_equal(self):
        self.start(2, "--epochs", "60")
        at = self.wait_steps(2, 20)
        self.cluster.resize(self.job, 3)
        at = self.wait_steps(3, 20, at)
        victim = next(line for line in self.lines() if line["size"] == 3 and line["rank"] == 1)
        os.kill(victim["pid"], signal.SIGKILL)
        self.wait_for("the loss of a worker", lambda: self.cluster.events("worker.lost"))
        at = self.wait_steps(3, 10, self.wait_steps(2, 1, at))  # survivors, then one in its place
        self.cluster.resize(self.job, 2)
        at = self.wait_steps(2, 20, at)
        self.wait_end()
        self.check_replicas()
        self.check_audits(60)
        self.assertEqual(max(line["step"] for line in self.lines()), 60 * 10)
        ended = self.lines("ended")
        self.assertEqual([line["finished"] for line in ended], [True] * 2, "a worker that left ends inside its loop")
        changes = {tuple(change[:2]) for line in self.lines() for change in line["resizes"]}
        self.assertLessEqual({(2, 3), (3, 2)}, changes, "on_resize() told of the changes")
        switches = self.cluster.events("generation.switched")
        planned = [event["data"] for event in switches if event["data"]["from_size"] in (2, 3)
                   and event["data"]["generation"] > 1 and event["data"]["steps_redone"] == 0]
        self.assertGreaterEqual(len(planned), 3, switches)

    def test_adams_state_and_the_schedulers_reach_joining_workers_bit_for_bit(self):
        self.start(1, "--epochs", "30", "--optimizer", "adam")
        at = self.wait_steps(1, 20)
        self.cluster.resize(self.job, 3)
        self.wait_steps(3, 20, at)
        self.wait_end()
        self.check_replicas()
        self.check_audits(30)

    def test_workers_without_a_sample_in_a_step_agree_with_those_that_have_one(self):
        # Two steps an epoch, the second with one sample for four workers.
        self.start(4, "--epochs", "12", "--norm", "LayerNorm", "--pause", "0", batch=599)
        self.wait_end()
        self.assertEqual({line["size"] for line in self.lines()}, {4})
        self.check_replicas()
        self.check_audits(12)

    def test_the_batch_follows_the_size_where_the_job_file_says_so(self):
        for rule, at_two in (("linear", 60), ("callback", 120)):
            with self.subTest(rule=rule):
                for path in self.lines_folder.iterdir():
                    path.unlink()
                self.start(1, "--epochs", "40", batch=30, rule=rule)
                at = self.wait_steps(1, 10)
                self.cluster.resize(self.job, 2)
                self.wait_steps(2, 10, at)
                self.wait_end()
                self.assertEqual({(line["size"], line["batch"]) for line in self.lines()}, {(1, 30), (2, at_two)})
                self.check_replicas()

    def test_the_examples_train_with_two_workers(self):
        runs = ((["transformer.py", "--steps", "8"], 8), (["cnn.py", "--epochs", "1", "--pictures", "200"], 50))
        for (script, *arguments), batch in runs:
            with self.subTest(script=script):
                self.submit(2, [str(SOURCE / "examples/pytorch" / script), *arguments],
                            {"global": batch, "per_worker_max": batch})
                self.wait_end()
                self.assertGreater(self.cluster.job(self.job)["progress"]["step"], 3)

    def test_a_worker_whose_script_raises_costs_the_job_only_that_worker(self):
        self.start(2, "--epochs", "60")
        at = self.wait_steps(2, 10)
        victim = self.wait_for(f"the other's step {at}", lambda: next(
            (line for line in self.lines() if line["rank"] == 1 and line["step"] == at), None))
        os.kill(victim["pid"], signal.SIGINT)  # Python raises KeyboardInterrupt in the loop
        self.wait_for("the loss of a worker", lambda: self.cluster.events("worker.lost"))
        self.wait_steps(2, 10, self.wait_steps(1, 1, at))
        self.wait_end()
        self.check_replicas()
        self.check_audits(60)


if __name__ == "__main__":
    result = unittest.main(verbosity=2, exit=False).result
    if MISSING:
        print("skipped:", MISSING)
        sys.exit(77)
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
