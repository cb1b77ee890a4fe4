"""tools/check: what fails is counted and ends it with an error, what is skipped is counted and named.

The script, the tally and ctest are the real ones; the package tools, the compiler's configuration and clang-tidy are
replaced by scripts, and the two builds by folders with a few tests and benchmarks that are scripts.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
CMAKE = """#!/bin/bash
echo "$*" >> calls
if [ "$1" = --preset ]; then mkdir -p "build/$2" && touch "build/$2/CMakeCache.txt"; fi
"""


class CheckTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("check", "check-tally"):
            (self.root / "tools").mkdir(exist_ok=True)
            shutil.copy(SOURCE / "tools" / name, self.root / "tools")
        self.program("tools/install-packages", "#!/bin/bash\n")
        self.program("tests/lint/check_tidy", '#!/bin/bash\necho "tidy $*" >> calls\n[ ! -e untidy ]\n')
        self.program("bin/cmake", CMAKE)
        for name in ("scale_bench", "queues_bench"):
            self.program(f"build/release/tests/{name}", f'#!/bin/bash\n[ ! -e {name}_fails ]\n')
        self.built("dev", 'add_test(good "true")\nadd_test(seeds "sh" "-c" "test $TIDEPOOL_SEED_FIFTH -ge 0")\n')
        self.built("release", 'add_test(all_seeds "sh" "-c" "test -z $TIDEPOOL_SEED_FIFTH")\n'
                              'set_tests_properties(all_seeds PROPERTIES LABELS property)\n')

    def program(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def built(self, build, text):
        path = self.root / "build" / build / "CTestTestfile.cmake"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, *words):
        environment = {**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}"}
        environment.pop("TIDEPOOL_SEED_FIFTH", None)
        return subprocess.run(["tools/check", *words], cwd=self.root, env=environment, capture_output=True, text=True,
                              timeout=60)

    def closing(self, done):
        return done.returncode, done.stdout.splitlines()[-1]

    def test_all_that_passes_is_counted(self):
        self.assertEqual(self.closing(self.check()), (0, "5 passed, 0 failed, 0 skipped"))  # with clang-tidy

    def test_a_failing_test_fails_it(self):
        self.built("dev", 'add_test(good "true")\nadd_test(bad "false")\n')
        done = self.check()
        self.assertEqual(self.closing(done), (1, "4 passed, 1 failed, 0 skipped"))
        self.assertIn("failed   sanitizers: bad", done.stdout)

    def flaky(self, label):
        """A test that fails the first time."""
        return ('add_test(flaky "sh" "-c" "test -e ran || { touch ran; false; }")\n'
                f'set_tests_properties(flaky PROPERTIES LABELS {label} WORKING_DIRECTORY {self.root})\n')

    def test_a_test_of_real_processes_that_passes_alone_is_named_as_flaky(self):
        self.built("dev", 'add_test(good "true")\n' + self.flaky("integration"))
        done = self.check()
        self.assertEqual(self.closing(done), (0, "5 passed, 0 failed, 0 skipped"))
        self.assertIn("flaky    sanitizers: flaky: failed beside others and passed alone", done.stdout)

    def test_a_test_that_computes_is_not_run_again(self):
        self.built("dev", 'add_test(good "true")\n' + self.flaky("unit"))
        self.assertEqual(self.closing(self.check()), (1, "4 passed, 1 failed, 0 skipped"))

    def test_where_more_than_three_fail_none_is_run_again(self):
        bad = "".join(f'add_test(bad{i} "false")\n' for i in range(3))
        self.built("dev", bad + self.flaky("integration"))
        self.assertEqual(self.closing(self.check()), (1, "3 passed, 4 failed, 0 skipped"))

    def test_a_skipped_test_is_counted_and_named(self):
        self.built("dev", 'add_test(good "true")\nadd_test(dataless "sh" "-c" "exit 77")\n'
                          'set_tests_properties(dataless PROPERTIES SKIP_RETURN_CODE 77)\n')
        done = self.check()
        self.assertEqual(self.closing(done), (0, "4 passed, 0 failed, 1 skipped"))
        self.assertIn("skipped  sanitizers: dataless", done.stdout)

    def test_a_finding_of_clang_tidy_fails_it_after_the_tests(self):
        (self.root / "untidy").touch()
        self.assertEqual(self.closing(self.check()), (1, "4 passed, 1 failed, 0 skipped"))

    def test_a_failing_benchmark_fails_it_after_the_tests(self):
        (self.root / "queues_bench_fails").touch()
        done = self.check()
        self.assertEqual(self.closing(done), (1, "4 passed, 1 failed, 0 skipped"))
        self.assertIn("failed   benches", done.stdout)

    def test_a_build_without_tests_fails_it(self):
        self.built("release", "")
        self.assertEqual(self.closing(self.check()), (1, "4 passed, 1 failed, 0 skipped"))

    def test_only_from_nothing_are_sources_compiled_together(self):
        self.check()
        (self.root / "calls").unlink()
        self.check()
        self.assertNotIn("UNITY", (self.root / "calls").read_text())

    def test_what_has_changed_since_the_branch_began_is_read_by_clang_tidy(self):
        def git(*words):
            as_somebody = ["-c", "user.name=t", "-c", "user.email=t@t"]
            return subprocess.run(["git", *as_somebody, *words], cwd=self.root, check=True, capture_output=True,
                                  text=True).stdout.strip()
        git("init", "-q", "-b", "main")
        git("commit", "-q", "--allow-empty", "-m", "first")
        began = git("rev-parse", "HEAD")
        git("checkout", "-q", "-b", "work")
        git("commit", "-q", "--allow-empty", "-m", "second")
        git("commit", "-q", "--allow-empty", "-m", "third")
        self.check()
        self.assertIn(f"tidy . build/dev --since {began}\n", (self.root / "calls").read_text())

    def test_an_unknown_option_is_refused(self):
        self.assertEqual(self.check("--nightli").returncode, 2)


if __name__ == "__main__":
    unittest.main()
