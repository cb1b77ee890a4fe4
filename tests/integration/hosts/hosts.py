"""Hosts on one machine: network namespaces on a bridge, which has a namespace of its own, so that nothing of the
machine's network is touched. A daemon in the first, an agent in each other one.
"""

import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(SOURCE))

from tests.support.cluster import Cluster  # noqa: E402

CLONE_NEWNET = 0x40000000


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")


def enter(namespace):
    """Takes this thread into the network namespace of an open file."""
    if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "cannot enter the namespace")


def kernel_form(address):
    """An IPv4 address as /proc/net/tcp writes it."""
    return "".join(f"{int(part):02X}" for part in reversed(address.split(".")))


def told_of(pid, name):
    """What /proc says of a process; nothing once it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


class Network:
    """Namespaces NAME0, NAME1, ... with the addresses 10.77.0.1, .2, ... and fd77::1, ... on `hosts0`."""

    def __init__(self, hosts):
        self.name = f"tp{os.getpid()}h"
        self.made, self.residents = [], []
        try:
            self._add("sw")
            self._in("sw", "link", "add", "bridge", "type", "bridge")
            self._in("sw", "link", "set", "bridge", "up")
            for host in range(hosts):
                self._join(host)
        except Exception:
            self.close()
            raise

    def _add(self, suffix):
        run("ip", "netns", "add", self.name + str(suffix))
        self.made.append(self.name + str(suffix))

    def _in(self, suffix, *words):
        run("ip", "-n", self.name + str(suffix), *words)

    def _join(self, host):
        self._add(host)
        run("ip", "link", "add", "hosts0", "netns", f"{self.name}{host}", "type", "veth", "peer", "name", f"port{host}",
            "netns", self.name + "sw")
        self.plug_in(host)
        self._in(host, "link", "set", "lo", "up")
        self._in(host, "addr", "add", self.address(host) + "/24", "dev", "hosts0")
        self._in(host, "addr", "add", self.address6(host) + "/64", "dev", "hosts0", "nodad")
        self._in(host, "link", "set", "hosts0", "up")
        self.residents.append(subprocess.Popen([*self.inside(host), "sleep", "infinity"]))

    def plug_in(self, host):
        self._in("sw", "link", "set", f"port{host}", "master", "bridge", "up")

    def unplug(self, host):
        """Nothing reaches the host, and it is not told so: its own link stays up."""
        self._in("sw", "link", "set", f"port{host}", "nomaster")

    def part(self, hosts, apart=True):
        """No two of these hosts reach each other; each reaches all others. apart=False mends it."""
        for host in hosts:
            self._in("sw", "link", "set", f"port{host}", "type", "bridge_slave", "isolated", "on" if apart else "off")

    def lose(self, delay_ms, loss, seed):
        """From now on each packet takes so long, and this share of them is lost."""
        hosts = range(len(self.residents))
        for host in hosts:
            self.unplug(host)
            run(*self.inside(host), sys.executable, str(HERE / "whole_packets.py"), "hosts0")
        links = subprocess.Popen(
            ["ip", "netns", "exec", self.name + "sw", sys.executable, str(HERE / "lossy_links.py"), str(delay_ms),
             str(loss), str(seed), *(f"port{host}" for host in hosts)], stdout=subprocess.PIPE, text=True)
        self.residents.append(links)
        with links.stdout as told:
            if told.readline() != "ready\n":
                raise RuntimeError("lossy_links.py has not started")

    @staticmethod
    def address(host):
        return f"10.77.0.{host + 1}"

    @staticmethod
    def address6(host):
        return f"fd77::{host + 1}"

    def inside(self, host):
        """What goes before a command so that it runs on the host."""
        return ["ip", "netns", "exec", f"{self.name}{host}"]

    def enter(self, host):
        """This thread itself goes there."""
        with open(f"/run/netns/{self.name}{host}") as namespace:
            enter(namespace.fileno())

    def sockets(self, host):
        """(local address, remote address, whether it listens) of TCP on the host, in the kernel's own hexadecimal."""
        found = set()
        for table in ("tcp", "tcp6"):
            # As the resident sees it: it is there however agents and workers come and go.
            text = pathlib.Path(f"/proc/{self.residents[host].pid}/net/{table}").read_text()
            for line in text.splitlines()[1:]:
                local, remote, state = line.split()[1:4]
                found.add((local.split(":")[0], remote.split(":")[0], state == "0A"))
        return found

    def close(self):
        for resident in self.residents:
            resident.kill()
            resident.wait()
        self.residents = []
        for namespace in reversed(self.made):
            subprocess.run(["ip", "netns", "delete", namespace], capture_output=True, timeout=60)
        self.made = []


def why_not():
    """Why no hosts can be made here; None if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "ip(8) is not installed; tools/install-packages --checks installs iproute2"
    try:
        Network(1).close()
    except RuntimeError as error:
        return f"network namespaces cannot be made here: {error}"
    return None


# `ip netns exec` gives a process mounts of its own. All agents of one host find the states in its memory; those of
# other hosts would take them for their own.
IN_OWN_MEMORY = 'mount --bind "$0" /dev/shm && exec "$@"'


class Hosts(Cluster):
    """The daemon on host 0, agents on hosts 1 to `hosts`, each with `slots`; all links by TLS. `words` and `config` are
    for the daemon, what agents are told by `agent_words(host, folder)`. `program` is in the command line of workers."""

    def __init__(self, hosts, slots, ipv6=False, patience="5s", words=(), agent_words=lambda host, folder: (),
                 program="tidepool-trainer", config=None):
        self.network = Network(hosts + 1)
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.agents, self.memories, self.ipv6 = {}, set(), ipv6
        self.slots, self.words, self.agent_words, self.program = slots, words, agent_words, program
        self.config = {"agents": {"patience": patience}, "tls": {}, **(config or {})}
        try:
            self._open(hosts)
        except Exception:
            self.close()
            raise

    def _open(self, hosts):
        self.network.enter(0)  # where the daemon's loopback is
        host = f"[{self.network.address6(0)}]" if self.ipv6 else self.network.address(0)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            super().__init__(str(BIN), slots=0, arguments=self._arguments(config, host + ":0"))
        ready = json.loads(self.ready_line)
        self.agents_at = f"{host}:{ready['agents_port']}"
        self.ca = ready["ca"]
        os.environ["SSL_CERT_FILE"] = self.ca  # for this process's own requests
        for number in range(1, hosts + 1):
            self.start_agent(number)

    def _arguments(self, config, listen):
        self.config["agents"]["listen"] = listen
        json.dump(self.config, config)
        config.flush()
        return ("--config", config.name, *self.words)

    def kill_daemon(self):
        """Starts it again on the same state, where its agents look for it."""
        self.network.enter(0)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            self.restart(self._arguments(config, self.agents_at), by=signal.SIGKILL)

    def start_agent(self, host, *words):
        with open(self.folder / f"agent{host}.log", "a") as log:
            self.agents[host] = subprocess.Popen(
                [*self.network.inside(host), "sh", "-c", IN_OWN_MEMORY, self.memory_of(host),
                 str(BIN / "agentd"), "--daemon", self.agents_at, "--ca", self.ca,
                 "--state-dir", str(self.folder / f"host{host}"), "--node", f"host{host}",
                 "--slots", str(self.slots), "--isolation", "none",
                 "--token-file", str(self.folder / "state/agent.token"), *self.agent_words(host, self.folder), *words],
                stdout=log, stderr=log)

    def memory_of(self, host):
        folder = pathlib.Path(f"/dev/shm/{self.network.name}{host}")
        folder.mkdir(exist_ok=True)
        self.memories.add(folder)
        return str(folder)

    def agent_log(self, host):
        return (self.folder / f"agent{host}.log").read_text()

    def workers(self, host):
        """Process ids of the workers there."""
        return [pid for pid in self.processes(self.program) if f"/host{host}/".encode() in told_of(pid, "environ")]

    def started_workers(self, host):
        """Those that the present agent there has started; far cheaper to find."""
        agent = self.agents[host].pid
        return [int(pid) for pid in told_of(agent, f"task/{agent}/children").split()
                if self.program.encode() in told_of(int(pid), "cmdline")]

    def logs(self):
        texts = [super().logs()]
        for path in sorted(self.folder.glob("agent*.log")) + sorted(self.folder.glob("host*/logs/*")):
            texts.append(f"--- {path.relative_to(self.folder)}\n{path.read_text(errors='replace')[-3000:]}")
        return "\n".join(texts)

    def close(self):
        if hasattr(self, "_daemon"):
            super().close()
        os.environ.pop("SSL_CERT_FILE", None)
        for process in self.agents.values():
            if process.poll() is None:
                process.kill()
            process.wait()
        for folder in self.memories:
            shutil.rmtree(folder, ignore_errors=True)
        enter(self.home)
        os.close(self.home)
        self.network.close()
