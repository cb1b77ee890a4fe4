"""tools/check-tally counts what ctest really did: passed, failed and skipped tests, and nothing that never ran."""

import os
import pathlib
import subprocess
import tempfile
import unittest

TALLY = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"]) / "tools/check-tally"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(tally NONE)
enable_testing()
add_test(NAME good COMMAND true)
add_test(NAME partly COMMAND printf "skipped 1 of 3 test cases:\\\\n  replay: it needs data\\\\n")
add_test(NAME without COMMAND sh -c "exit 77")
add_test(NAME bad COMMAND false)
add_test(NAME absent COMMAND /nowhere/program)
add_test(NAME endless COMMAND sleep 60)
set_tests_properties(without PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(endless PROPERTIES TIMEOUT 1)
"""


class CheckTallyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "CMakeLists.txt").write_text(PROJECT)
        subprocess.run(["cmake", "-S", self.folder, "-B", self.folder / "build"], check=True, capture_output=True)

    def results(self, pattern):
        path = self.folder / "some.xml"
        subprocess.run(["ctest", "--test-dir", self.folder / "build", "-R", pattern, "--output-junit", path],
                       capture_output=True, timeout=60)
        return path

    def tally(self, *paths):
        done = subprocess.run([TALLY, *paths], capture_output=True, text=True, timeout=30)
        return done.returncode, done.stdout

    def test_what_passes_and_what_is_skipped_is_no_failure(self):
        code, text = self.tally(self.results("good|partly|without"))
        self.assertEqual((code, text.splitlines()[-1]), (0, "2 passed, 0 failed, 1 skipped"))
        self.assertIn("skipped  some: without", text)
        self.assertIn("skipped  1 of 3 cases of some: partly:\n  replay: it needs data", text)

    def test_a_failure_a_timeout_and_a_missing_program_are_failures(self):
        code, text = self.tally(self.results("."))
        self.assertEqual((code, text.splitlines()[-1]), (1, "2 passed, 3 failed, 1 skipped"))
        for name in ("bad", "absent", "endless"):
            self.assertIn(f"failed   some: {name}", text)

    def test_what_failed_and_passes_alone_is_flaky_and_no_failure(self):
        some = self.results("good|bad|absent")
        alone = pathlib.Path(some).with_suffix(".alone.xml")
        alone.write_text('<testsuite><testcase name="bad" status="run"/><testcase name="absent" status="fail"/>'
                         '</testsuite>')
        code, text = self.tally(some)
        self.assertEqual((code, text.splitlines()[-1]), (1, "2 passed, 1 failed, 0 skipped"))
        self.assertIn("flaky    some: bad: failed beside others and passed alone", text)
        self.assertIn("failed   some: absent", text)

    def test_a_run_that_left_nothing_is_a_failure(self):
        code, text = self.tally(self.results("good"), self.folder / "other.xml")
        self.assertEqual((code, text.splitlines()[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("failed   other: no test ran", text)

    def test_that_all_were_skipped_is_no_success(self):
        code, text = self.tally(self.results("without"))
        self.assertEqual((code, text.splitlines()[-1]), (1, "0 passed, 0 failed, 1 skipped"))


if __name__ == "__main__":
    unittest.main()
