"""Runs the job under torchrun's elastic agents and makes it change size; prints one line of JSON for each event.

Runs in name spaces of its own (network, host name, processes), which elastic_stall_bench.py makes: only loopback is
there, and every process ends with this one. One node is one agent with one worker, as on machines of their own.
"""

import argparse
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import stall_lines

HERE = pathlib.Path(__file__).resolve().parent
PORT = 29531
TUNED = ["--monitor_interval=0.1",
         "--rdzv_conf=last_call_timeout=1,keep_alive_interval=1,keep_alive_max_attempt=2,read_timeout=10"]

# Debian's torchrun 1.13.1 does not start under Python 3.11: Std.from_str("0") gives None there, because iterating a
# flag no longer yields its zero member. This mends that one function and runs torchrun unchanged.
LAUNCH = """
import torch.distributed.elastic.multiprocessing.api as api, torch.distributed.run as run
original = api.Std.from_str.__func__
api.Std.from_str = classmethod(lambda cls, text: original(cls, text) or api.Std.NONE)
run.main()
"""


class Nodes:
    def __init__(self, folder, settings):
        self.folder = folder
        self.settings = settings
        self.agents = {}

    def start(self, tag):
        environment = {**os.environ, "NODE_TAG": tag, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
                       "TP_SOCKET_IFNAME": "lo"}
        command = [sys.executable, "-c", LAUNCH, "--nnodes=1:4", "--nproc_per_node=1", "--rdzv_backend=c10d",
                   f"--rdzv_endpoint=127.0.0.1:{PORT}", "--rdzv_id=stall", "--max_restarts=1000", *self.settings,
                   str(HERE / "stall_training.py"), str(self.folder), "--runtime", "torchrun"]
        log = open(self.folder / f"agent-{tag}.log", "w")
        self.agents[tag] = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)

    def worker_of(self, tag):
        return [line for line in stall_lines.read(self.folder, "ready") if line["node"] == tag][-1]["pid"]

    def wait_steps(self, size, after, count=10, seconds=180):
        """The first step of `size` workers after that moment, once there are `count`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            steps = [s for s in stall_lines.read(self.folder) if s["size"] == size and s["t"] > after]
            if len({s["step"] for s in steps}) >= count and len({s["pid"] for s in steps}) == size:
                return steps[0]
            time.sleep(0.2)
        raise TimeoutError(f"no steps of {size} workers in {seconds} s; see the agents' logs in {self.folder}")

    def event(self, name, act, size):
        """Does `act` and tells how long the job stood still: from the last step of the old workers to the first step of
        the new ones. torchrun makes new processes of all of them."""
        before = {line["pid"] for line in stall_lines.read(self.folder)}
        begin = time.monotonic()
        act()
        deadline = begin + 240
        while time.monotonic() < deadline:
            steps = stall_lines.read(self.folder)
            fresh = [s for s in steps if s["pid"] not in before]
            if len({s["step"] for s in fresh}) >= 10 and fresh[-1]["size"] == size:
                break
            time.sleep(0.2)
        else:
            raise TimeoutError(f"{name}: no steps of {size} workers in 240 s")
        last = [s for s in steps if s["pid"] in before and s["t"] < fresh[0]["t"]][-1]
        print(json.dumps({"event": name, "gap_ms": (fresh[0]["t"] - last["t"]) * 1e3,
                          "steps_redone": last["step"] - fresh[0]["step"] + 1}), flush=True)


def bring_up_loopback():
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    socket.sethostname("localhost")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tuned", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    asked = parser.parse_args()
    bring_up_loopback()
    nodes = Nodes(asked.folder, TUNED if asked.tuned else [])
    nodes.start("A")
    for _ in range(600):  # A hosts the store that the others meet at
        try:
            socket.create_connection(("127.0.0.1", PORT), 0.5).close()
            break
        except OSError:
            time.sleep(0.1)
    nodes.start("B")
    nodes.wait_steps(2, 0)
    for number in range(asked.repeat):
        tag = f"C{number}"
        nodes.event("grow", lambda: nodes.start(tag), 3)
        nodes.event("kill", lambda: os.kill(nodes.worker_of(tag), signal.SIGKILL), 3)
        nodes.event("shrink", nodes.agents[tag].terminate, 2)
        nodes.agents[tag].wait()


if __name__ == "__main__":
    main()
