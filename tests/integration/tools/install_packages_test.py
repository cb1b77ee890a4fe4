"""tools/install-packages asks for what is missing and nothing else.

The package tools are replaced by scripts that write down how they were called; the script itself is the real one.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"]) / "tools/install-packages"


class InstallPackagesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bin = pathlib.Path(folder.name) / "bin"
        self.bin.mkdir()
        self.calls = pathlib.Path(folder.name) / "calls"
        self.calls.touch()
        for name in ("bash", "env", "sed"):
            (self.bin / name).symlink_to(next(p for p in (pathlib.Path("/usr/bin") / name, pathlib.Path("/bin") / name)
                                              if p.exists()))
        self.program("id", "echo ${TEST_UID:-0}")
        self.program("npm", "exit 0")
        self.program("node", "echo v20.1.0")
        self.program("chromium", "exit 0")
        self.program("apt-get", f'echo "$*" >> {self.calls}')
        self.missing("")

    def program(self, name, body):
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text("#!/bin/bash\n" + body + "\n")
        path.chmod(0o755)

    def missing(self, *names):
        cases = "".join(f'  {n}) echo not-installed; exit 1 ;;\n' for n in names if n)
        cases += "  libboost1.74-dev) exit 1 ;;\n  *) echo installed ;;\n"
        self.program("dpkg-query", 'case "${@: -1}" in\n' + cases + "esac")

    def run_script(self, *args, **extra):
        return subprocess.run([SCRIPT, *args], capture_output=True, text=True, timeout=30,
                              env={"PATH": str(self.bin), **extra})

    def installs(self):
        lines = self.calls.read_text().splitlines()
        return [line.split("--no-install-recommends ")[1].split() for line in lines if " install " in line]

    def test_nothing_is_called_when_all_is_there(self):
        done = self.run_script("--checks")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("are installed", done.stdout)
        self.assertEqual(self.calls.read_text(), "")

    def test_exactly_the_missing_packages_are_installed(self):
        self.missing("catch2", "libgloo-dev")
        self.assertEqual(self.run_script().returncode, 0)
        self.assertEqual([sorted(names) for names in self.installs()], [["catch2", "libgloo-dev"]])

    def test_each_package_is_asked_for_once(self):
        self.program("dpkg-query", "exit 1")
        self.run_script("--checks")
        (names,) = self.installs()
        self.assertEqual(sorted(names), sorted(set(names)))

    def test_an_old_node_is_not_enough(self):
        self.program("node", "echo v16.20.0")
        self.missing("nodejs", "npm")
        self.assertEqual(self.run_script().returncode, 0)
        self.assertEqual(self.installs(), [["nodejs", "npm"]])

    def test_a_browser_is_only_for_the_checks(self):
        (self.bin / "chromium").unlink()
        self.missing("chromium")
        self.run_script()
        self.assertEqual(self.installs(), [])
        self.run_script("--checks")
        self.assertEqual(self.installs(), [["chromium"]])

    def test_the_solvers_of_the_studies_are_for_these_and_for_the_checks(self):
        solvers = ["coinor-libcbc-dev", "libqhull-dev"]
        self.missing(*solvers)
        self.assertEqual(self.run_script().returncode, 0)
        self.assertEqual(self.installs(), [])
        for option in ("--studies", "--checks"):
            self.calls.write_text("")
            self.assertEqual(self.run_script(option).returncode, 0)
            self.assertEqual([sorted(names) for names in self.installs()], [solvers])

    def test_an_ordinary_user_without_sudo_is_told_what_is_missing(self):
        self.missing("catch2")
        done = self.run_script(TEST_UID="1000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("missing: catch2", done.stderr)
        self.assertEqual(self.installs(), [])

    def test_a_failed_installation_is_a_failure(self):
        self.missing("catch2")
        self.program("apt-get", f'echo "$*" >> {self.calls}; case "$*" in *install*) exit 100 ;; esac')
        self.assertEqual(self.run_script().returncode, 100)

    def test_an_unknown_option_is_refused(self):
        done = self.run_script("--chekcs")
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage:", done.stderr)


if __name__ == "__main__":
    unittest.main()
