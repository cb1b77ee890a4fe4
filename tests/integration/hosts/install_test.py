"""docs/install.md, typed as it stands: each command of it, in its order, on two hosts that are network namespaces. Only
the addresses are replaced, and the build, which has happened. Exit code 77: it cannot be done here; the reason is
printed.
"""

import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from hosts import BIN, SOURCE, Network, why_not  # noqa: E402
from tests.support.cluster import eventually  # noqa: E402

MISSING = why_not()
PROGRAMS = ("schedulerd", "schedctl", "agentd", "tidepool-trainer", "tidepool-probe", "tidepool-confine")
ADDRESSES = {"10.0.0.1": Network.address(0), "10.0.0.2": Network.address(1)}
# What the document's commands are, and what is to become of each.
STEPS = {
    "sudo tools/install-packages": "built", "cmake --preset release": "built",
    "cmake --build --preset release": "built", "export PATH=": "built", "mkdir -p": "run", "printf": "run",
    "schedulerd": "serve", "schedctl": "run", "agentd join": "serve"}


def commands():
    """The lines between ``` fences, in order, each with the title of the section that it stands in."""
    section, inside, found = "", False, []
    for line in (SOURCE / "docs/install.md").read_text().splitlines():
        if line.startswith("```"):
            inside = not inside
        elif inside:
            found.append((section, line))
        elif line.startswith("## "):
            section = line[3:]
    return found


class Servers:
    """Two hosts with a home each, and a copy of the project that all users may read."""

    def __init__(self):
        self.network = Network(2)
        # Not below /tmp, of which isolated jobs have their own.
        self._folder = tempfile.TemporaryDirectory(prefix="tidepool-install-", dir="/var/lib")
        self.folder = pathlib.Path(self._folder.name)
        self.folder.chmod(0o755)
        self.copy, self.served, self._numbers = self.folder / "tidepool", [], itertools.count()
        (self.copy / "build/release/bin").mkdir(parents=True)
        for name in PROGRAMS:
            shutil.copy2(BIN / name, self.copy / "build/release/bin")
        for name in ("docs", "api", "examples"):
            shutil.copytree(SOURCE / name, self.copy / name)
        for path in SOURCE.glob("*.md"):
            shutil.copy2(path, self.copy)
        for home in ("home0", "home1"):
            (self.folder / home).mkdir()

    def _how(self, host):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDEPOOL_")}
        environment.update(HOME=str(self.folder / f"home{host}"), USER="root",
                           PATH=f"{self.copy}/build/release/bin:{environment['PATH']}")
        return {"cwd": self.copy, "env": environment, "text": True}

    def _inside(self, host):
        """As on a machine of its own: `ip netns exec` would hide control groups, and memory would be bounded by
        address space, in which no program runs that a sanitizer watches."""
        return ["nsenter", f"--net=/run/netns/{self.network.name}{host}"]

    def run(self, host, line, seconds=120):
        done = subprocess.run([*self._inside(host), "bash", "-c", line], capture_output=True, timeout=seconds,
                              **self._how(host))
        if done.returncode != 0:
            raise AssertionError(f"{line}\n{done.stdout}{done.stderr}\n{self.logs()}")
        return done.stdout

    def serve(self, host, line):
        log = self.folder / f"served{next(self._numbers)}.log"
        with open(log, "w") as out:
            self.served.append(subprocess.Popen([*self._inside(host), "bash", "-c", "exec " + line], stdout=out,
                                                stderr=out, **self._how(host)))
        return log.read_text

    def end_newest(self):
        process = self.served.pop()
        process.terminate()
        process.wait(60)

    def logs(self):
        return "\n".join(f"--- {path.name}\n{path.read_text()[-2000:]}" for path in self.folder.glob("served*.log"))

    def close(self):
        while self.served:
            self.end_newest()
        self.network.close()
        self._folder.cleanup()


class Install(unittest.TestCase):
    def setUp(self):
        if MISSING:
            self.skipTest(MISSING)
        self.servers = Servers()
        self.addCleanup(self.servers.close)
        self.token = None

    def soon(self, what, holds):
        self.assertTrue(eventually(holds, 120), f"{what} did not happen\n{self.servers.logs()}")

    def node_states(self):
        nodes = json.loads(self.servers.run(0, "schedctl nodes -o json"))
        return {node["name"]: (node["state"], node["access"]["by"]) for node in nodes}

    def follow(self, section, line):
        """One command of the document, on the server that its section or name says."""
        what = next((how for start, how in STEPS.items() if line.startswith(start)), None)
        self.assertIsNotNone(what, f'this test does not know the command "{line}" of docs/install.md')
        for written, address in ADDRESSES.items():
            line = line.replace(written, address)
        if what == "built":
            return
        if line.startswith("schedulerd"):
            log = self.servers.serve(0, line)
            self.soon("the ready line", lambda: "ready {" in log())
        elif line.startswith("agentd join"):
            self.join(line)
        elif line.startswith("schedctl watch"):
            self.watch()
        else:
            out = self.servers.run(0, line)
            if "token create" in line:
                self.token = re.search(r"tpn_\S+", out).group()

    def join(self, line):
        if "TOKEN" not in line:  # after a restart of the machine: of the second one
            self.servers.end_newest()
            self.soon("the loss of node-b", lambda: self.node_states()["node-b"][0] != "up")
            self.servers.serve(1, line)
        else:
            self.servers.serve(1 if "node-b" in line else 0, line.replace("TOKEN", self.token))
        name = "node-a" if "node-a" in line else "node-b"
        self.soon(f"{name} joins", lambda: self.node_states().get(name) == ("up", "certificate"))

    def watch(self):
        self.soon("steps", lambda: (self.job()["progress"]["step"] or 0) > 20)
        self.servers.run(0, "schedctl resize charlm-demo 4")
        self.soon("four workers", lambda: self.job()["size"] == 4)
        step = self.job()["progress"]["step"]
        self.soon("steps of four workers", lambda: self.job()["progress"]["step"] > step + 10)
        held = {slot["worker"] for node in json.loads(self.servers.run(0, "schedctl nodes -o json"))
                for slot in node["slots"]}
        self.assertEqual(len(held), 4, "two slots on each server")
        self.servers.run(0, "schedctl cancel charlm-demo")
        self.soon("its end", lambda: self.job()["state"] == "cancelled")

    def job(self):
        return json.loads(self.servers.run(0, "schedctl get charlm-demo -o json"))

    def test_each_command_of_the_document_does_what_it_says(self):
        followed = commands()
        self.assertGreater(len(followed), 12)
        for section, line in followed:
            with self.subTest(section=section, line=line):
                self.follow(section, line)


if __name__ == "__main__":
    result = unittest.main(verbosity=2, exit=False, failfast=True).result
    if MISSING:
        print("skipped:", MISSING)
        sys.exit(77)
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
