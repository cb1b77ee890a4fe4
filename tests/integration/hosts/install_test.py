"""docs/install.md, typed as it stands: each command of it, in its order, on two hosts that are network namespaces, and
those for a site with Slurm beside a Slurm that is started for it. Only the addresses are replaced, the build, which has
happened, folders that belong to the machine, and how long a node of Slurm is idle before it is given back. systemd is
not there: of a unit it is seen that what it starts is there and takes its configuration. `install_test.py Servers` or
`Slurm`: one of the two. Exit code 77: it cannot be done here; the reason is printed.
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

sys.path[:0] = [str(SOURCE / "tests/support"), str(SOURCE / "tests/integration/pools")]

import slurm_cluster  # noqa: E402
from cluster import eventually  # noqa: E402

PROGRAMS = ("schedulerd", "schedctl", "agentd", "tidepool-trainer", "tidepool-probe", "tidepool-confine")
ADDRESSES = {"10.0.0.1": Network.address(0), "10.0.0.2": Network.address(1)}
# What the document's commands are, and what is to become of each.
STEPS = {
    "sudo tools/install-packages": "built", "cmake --preset release": "built",
    "cmake --build --preset release": "built", "export PATH=": "built", "mkdir -p": "run", "printf": "run",
    "schedulerd": "serve", "schedctl": "run", "agentd join": "serve", "sed": "run", "(umask": "run", "squeue": "run",
    "sudo useradd": "of systemd", "sudo mkdir -p": "run", "sudo cp": "unit", "sudo systemctl": "of systemd",
    "journalctl": "of systemd", "sudo /opt/tidepool/build/release/bin/agentd join": "of systemd"}
SLURM = "Slurm cluster"  # in the title of the section that is of a site with Slurm


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


class Machines:
    """Two hosts with a home each, and a copy of the project that all users may read."""

    def __init__(self):
        self.network, self.more_environment = Network(2), {}
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
        self.places = {"/opt/tidepool": str(self.copy), "/etc/tidepool": str(self.folder / "etc")}

    def _how(self, host):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDEPOOL_")}
        environment.update(HOME=str(self.folder / f"home{host}"), USER="root",
                           PATH=f"{self.copy}/build/release/bin:{environment['PATH']}", **self.more_environment)
        return {"cwd": self.copy, "env": environment, "text": True}

    def inside(self, host):
        """As on a machine of its own: `ip netns exec` would hide control groups, and memory would be bounded by
        address space, in which no program runs that a sanitizer watches."""
        return ["nsenter", f"--net=/run/netns/{self.network.name}{host}"]

    def run(self, host, line, seconds=120):
        done = subprocess.run([*self.inside(host), "bash", "-c", line], capture_output=True, timeout=seconds,
                              **self._how(host))
        if done.returncode != 0:
            raise AssertionError(f"{line}\n{done.stdout}{done.stderr}\n{self.logs()}")
        return done.stdout

    def serve(self, host, line):
        log = self.folder / f"served{next(self._numbers)}.log"
        with open(log, "w") as out:
            self.served.append(subprocess.Popen([*self.inside(host), "bash", "-c", "exec " + line], stdout=out,
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


class InstallCase(unittest.TestCase):
    missing = why_not()

    def setUp(self):
        if self.missing:
            self.skipTest(self.missing)
        self.machines = Machines()
        self.addCleanup(self.machines.close)

    def soon(self, what, holds):
        self.assertTrue(eventually(holds, 120), f"{what} did not happen\n{self.machines.logs()}")

    def asked(self, words):
        return json.loads(self.machines.run(0, f"schedctl {words} -o json"))

    def node_states(self):
        return {node["name"]: (node["state"], node["access"]["by"]) for node in self.asked("nodes")}

    def job(self):
        return self.asked("get charlm-demo")

    def follow_all(self, least, is_mine):
        followed = [(section, line) for section, line in commands() if is_mine(section)]
        self.assertGreater(len(followed), least)
        for section, line in followed:
            with self.subTest(section=section, line=line):
                self.follow(line)

    def follow(self, line):
        """One command of the document."""
        what = next((how for start, how in STEPS.items() if line.startswith(start)), None)
        self.assertIsNotNone(what, f'this test does not know the command "{line}" of docs/install.md')
        for written, here in {**ADDRESSES, **self.machines.places}.items():
            line = line.replace(written, here)
        line = line.replace("sudo ", "")
        if what in ("built", "of systemd"):
            return
        if what == "unit":
            self.check_unit(line.split()[1])
        elif line.startswith("schedulerd"):
            log = self.machines.serve(0, line)
            self.soon("the ready line", lambda: "ready {" in log())
        elif line.startswith("agentd join"):
            self.join(line)
        elif line.startswith("schedctl watch"):
            self.watch()
        else:
            self.done(line, self.machines.run(0, line))

    def check_unit(self, path):
        started = re.search(r"^ExecStart=(.+)$", pathlib.Path(path).read_text(), re.M).group(1)
        for written, here in self.machines.places.items():
            started = started.replace(written, here)
        program = started.split()[0]
        self.machines.run(0, f"{started} --check-config" if "--config" in started else f"{program} --version")

    def wait_steps(self):
        first = self.job()["progress"]["step"] or 0
        self.soon("steps", lambda: (self.job()["progress"]["step"] or 0) > first + 10)


class Servers(InstallCase):
    def done(self, line, out):
        if "token create" in line:
            self.token = re.search(r"tpn_\S+", out).group()

    def join(self, line):
        """On the server that the name says."""
        if "TOKEN" not in line:  # after a restart of the machine: of the second one
            self.machines.end_newest()
            self.soon("the loss of node-b", lambda: self.node_states()["node-b"][0] != "up")
            self.machines.serve(1, line)
        else:
            self.machines.serve(1 if "node-b" in line else 0, line.replace("TOKEN", self.token))
        name = "node-a" if "node-a" in line else "node-b"
        self.soon(f"{name} joins", lambda: self.node_states().get(name) == ("up", "certificate"))

    def watch(self):
        self.wait_steps()
        self.machines.run(0, "schedctl resize charlm-demo 4")
        self.soon("four workers", lambda: self.job()["size"] == 4)
        self.wait_steps()
        held = {slot["worker"] for node in self.asked("nodes") for slot in node["slots"]}
        self.assertEqual(len(held), 4, "two slots on each server")
        self.machines.run(0, "schedctl cancel charlm-demo")
        self.soon("its end", lambda: self.job()["state"] == "cancelled")

    def test_each_command_for_two_servers_does_what_it_says(self):
        self.follow_all(12, lambda section: SLURM not in section)


class Slurm(InstallCase):
    missing = why_not() or slurm_cluster.why_not()

    def setUp(self):
        super().setUp()
        self.slurm = slurm_cluster.SlurmCluster(self.machines.folder / "slurm", before=self.machines.inside(0))
        self.addCleanup(self.slurm.close)
        self.addCleanup(self.remove_folders_of_agents)
        self.machines.more_environment["SLURM_CONF"] = self.slurm.environment["SLURM_CONF"]
        written = self.machines.copy / "examples/providers/slurm_pilots.yaml"
        text = written.read_text()
        self.assertIn("idle: 10m", text)
        written.write_text(text.replace("idle: 10m", "idle: 5s"))

    @staticmethod
    def remove_folders_of_agents():
        for folder in pathlib.Path("/tmp").glob("tidepool-pilot-*"):
            shutil.rmtree(folder)

    def done(self, line, out):
        if "token create" in line:
            token = self.machines.folder / "home0/pilots/node.token"
            self.assertEqual(token.stat().st_mode & 0o777, 0o600)
            self.assertEqual((token.read_text().count("tpn_"), self.slurm.jobs()), (1, {}))
        elif "submit" in line:
            self.soon("jobs in Slurm's queue", self.slurm.jobs)
        elif line.startswith("squeue"):
            self.assertTrue(all(name.startswith("tidepool-") for name in self.slurm.jobs()))
        elif "cancel" in line:
            self.soon("an empty queue", lambda: not self.slurm.jobs())
        elif "node_released" in line:
            self.assertIn("pilot-1", out)

    def watch(self):
        self.soon("the job on nodes", lambda: self.job()["state"] == "running")
        self.wait_steps()
        nodes = self.node_states()
        self.assertEqual(nodes["pilot-1"], ("up", "certificate"), nodes)

    def test_each_command_for_a_site_with_slurm_does_what_it_says(self):
        self.follow_all(8, lambda section: SLURM in section)
        self.soon("nothing left at the provider", lambda: not self.asked("pools")[0]["nodes"])


if __name__ == "__main__":
    asked = [globals()[name] for name in sys.argv[1:]] or [Servers, Slurm]
    result = unittest.main(verbosity=2, exit=False, failfast=True).result
    missing = next((case.missing for case in asked if case.missing), None)
    if missing:
        print("skipped:", missing)
        sys.exit(77)
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
