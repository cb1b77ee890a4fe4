#!/usr/bin/env python3
"""How Catch2 programs end whose cases were skipped, passed or failed: skips_probe, asked for some of its cases."""
import os
import pathlib
import subprocess
import unittest

PROBE = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"]).parent / "tests" / "skips_probe"
SKIPPED = 77


def call(*cases):
    done = subprocess.run([PROBE, ",".join(cases)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout


class Skips(unittest.TestCase):
    def test_a_program_of_which_every_case_was_skipped_says_so_with_its_status(self):
        status, out = call('"is skipped"', '"is skipped as well"')
        self.assertEqual(status, SKIPPED)
        self.assertIn("skipped 2 of 2 test cases:\n  is skipped: there is no data\n", out)

    def test_one_that_skipped_some_passes_and_names_them(self):
        status, out = call("passes", '"is skipped"')
        self.assertEqual(status, 0)
        self.assertIn("skipped 1 of 2 test cases:\n  is skipped: there is no data\n", out)

    def test_one_that_skipped_none_says_nothing_of_it(self):
        status, out = call("passes")
        self.assertEqual(status, 0)
        self.assertNotIn("skipped", out)

    def test_a_failure_is_never_taken_for_a_skip(self):
        self.assertEqual(call("fails", '"is skipped"')[0], 1)
        self.assertEqual(call("fails as often as a skip's status says")[0], 1)


if __name__ == "__main__":
    unittest.main()
