"""How long training stands still when a job grows, shrinks, loses a worker or has one replaced.

Gap: from the last step applied before the change to the first one after it, as the workers themselves saw it (one
clock, all on this machine), the normal duration of a step included. Beside it torchrun's elastic agents with the same
network, with its default settings and tuned. A replace has no like there: the nearest is the restart after a death.

    tools/bench elastic_stall -- --torchrun-repetitions 20

One of torchrun's repetitions takes most of a minute; with fewer than three the figure is a sample, not a median.
"""

import argparse
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests/support"))
sys.path.insert(0, str(SOURCE / "tests/bench"))

import stall_lines  # noqa: E402
from cluster import Cluster, eventually  # noqa: E402

STATE_MB = 200


def say(text):
    print(text, file=sys.stderr, flush=True)


def result(metric, value, unit, baseline=None, **more):
    line = {"bench": "elastic_stall", "metric": metric, "value": round(value, 4), "unit": unit}
    if baseline is not None:
        line["baseline"] = round(baseline, 4)
        line["ratio"] = round(value / baseline, 6)
    print(json.dumps({**line, **more}), flush=True)


class Training:
    """The job under the real daemon, and what happened to it."""

    def __init__(self, cluster, name, state_mb=0):
        self.cluster = cluster
        self.folder = cluster.folder / name
        self.folder.mkdir()
        self.causes = {}  # generation -> what was done to bring it about
        program = [sys.executable, str(SOURCE / "tests/bench/stall_training.py"), str(self.folder),
                   "--runtime", "tidepool", "--state-mb", str(state_mb)]
        self.job = cluster.submit({
            "name": name,
            "run": {"command": program, "env": {"PYTHONPATH": str(SOURCE / "workers/python")}},
            "elastic": {"min": 1, "max": 3, "preferred": 2, "sizes": [1, 2, 3], "cooldown": "0s"},
            "batch": {"global": 48, "per_worker_max": 48}, "scaling": {"policy": "fixed"},
            "limits": {"max_restarts": 1_000}})
        self.settle(2)

    def newest(self):
        steps = stall_lines.read(self.folder)
        return steps[-1]["generation"] if steps else 0

    def settle(self, size, after=0, seconds=180):
        """Waits for a generation above `after` with `size` workers to have made 15 steps; its number."""
        def settled():
            steps = stall_lines.read(self.folder)
            if not steps or steps[-1]["generation"] <= after or steps[-1]["size"] != size:
                return 0
            generation = steps[-1]["generation"]
            made = {s["step"] for s in steps if s["generation"] == generation}
            return generation if len(made) >= 15 else 0
        generation = eventually(settled, seconds, every=0.1)
        if not generation:
            raise TimeoutError(f"no {size} workers after generation {after} in {seconds} s\n{self.cluster.logs()}")
        return generation

    def change(self, name, act, size):
        """Does `act`; the next generation is its work."""
        before = self.newest()
        act()
        generation = self.settle(size, before)
        self.causes.setdefault(before + 1, name)
        return generation

    def grow(self):
        self.change("grow", lambda: self.cluster.resize(self.job, 3), 3)

    def shrink(self):
        self.change("shrink", lambda: self.cluster.resize(self.job, 2), 2)

    def kill(self):
        """The survivors go on, and soon after a joining worker takes the free place: that is one more grow."""
        before = self.newest()
        victim = next(s for s in reversed(stall_lines.read(self.folder)) if s["rank"] == 1)
        os.kill(victim["pid"], signal.SIGKILL)
        self.settle(3, before + 1)
        self.causes[before + 1] = "kill"
        self.causes[before + 2] = "grow"

    def replace(self):
        """A worker computes two and a half times as long until it is found out. False: it was not replaced."""
        before = self.newest()
        victim = next(s for s in reversed(stall_lines.read(self.folder)) if s["rank"] == 1)
        (self.folder / "slow.txt").write_text(victim["worker"])
        try:
            self.settle(3, before, seconds=120)
        except TimeoutError:
            return False
        finally:
            (self.folder / "slow.txt").unlink()
        self.causes[before + 1] = "replace"
        return True

    def cancel(self):
        self.cluster.call("DELETE", f"/v1/jobs/{self.job}")
        eventually(lambda: self.cluster.job(self.job)["state"] == "cancelled")

    def gaps(self):
        """name -> list of (gap in ms, steps redone)."""
        steps = stall_lines.read(self.folder)
        first = {}
        last = {}
        for s in steps:
            first.setdefault(s["generation"], s)
            last[s["generation"]] = s
        found = {}
        for generation, name in self.causes.items():
            older = [s for g, s in last.items() if g < generation]
            if generation in first and older:
                before = max(older, key=lambda s: s["t"])
                found.setdefault(name, []).append(((first[generation]["t"] - before["t"]) * 1e3,
                                                   max(0, before["step"] - first[generation]["step"] + 1)))
        return found

    def normal_step_ms(self):
        """Median time between two steps of rank 0 within one generation, those with a slow worker left out."""
        slow = {generation - 1 for generation, name in self.causes.items() if name == "replace"}
        steps = [s for s in stall_lines.read(self.folder) if s["rank"] == 0 and s["generation"] not in slow]
        pairs = zip(steps, steps[1:])
        return stall_lines.median([(b["t"] - a["t"]) * 1e3 for a, b in pairs if a["generation"] == b["generation"]])

    def audit(self):
        """(epochs audited, samples that were lost or used twice)."""
        audits = [e["data"] for e in self.cluster.events("data.epoch_audited") if e.get("job") == self.job]
        wrong = sum(abs(a["used"] - a["expected"]) + (0 if a["checksum_ok"] else 1) for a in audits)
        return sum(a["epochs"] for a in audits), wrong


def measure_replaces(cluster, repeat):
    """(gaps of so many replacements, the jobs' audits). Each in a job of its own: a job waits ever longer between
    replacements in a row, so that a slow machine is not mistaken for slow workers."""
    gaps, audits = [], []
    for number in range(repeat):
        say(f"libtidepool: replacement {number + 1} of {repeat}")
        training = Training(cluster, f"replaced-{number}")
        training.grow()
        replaced = training.replace()
        gaps += training.gaps().get("replace", [])
        audits.append(training.audit())
        training.cancel()
        if not replaced:
            say("no slow worker was replaced within 120 s: the figure for replace has fewer repetitions")
            break
    return gaps, audits


def run_tidepool(repeat):
    with Cluster(os.environ["TIDEPOOL_BIN_DIR"], slots=4) as cluster:
        training = Training(cluster, "resized")
        for number in range(repeat):
            say(f"libtidepool: round {number + 1} of {repeat}")
            training.grow()
            training.kill()
            training.shrink()
        gaps, step, audits = training.gaps(), training.normal_step_ms(), [training.audit()]
        training.cancel()
        gaps["replace"], more = measure_replaces(cluster, repeat)
        audits += more
        return gaps, step, (sum(epochs for epochs, _ in audits), sum(wrong for _, wrong in audits))


def run_torchrun(repeat, tuned):
    """name -> list of (gap in ms, steps redone), in name spaces of their own."""
    say(f"torchrun, {'tuned' if tuned else 'default settings'}: {repeat} of each")
    with tempfile.TemporaryDirectory(prefix="tidepool-bench-") as folder:
        as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        command = ["unshare", *as_root, "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc",
                   sys.executable, str(SOURCE / "tests/bench/stall_torchrun.py"), folder, "--repeat", str(repeat)]
        done = subprocess.run(command + (["--tuned"] if tuned else []), stdout=subprocess.PIPE, text=True)
        found = {}
        for line in done.stdout.splitlines():
            event = json.loads(line)
            found.setdefault(event["event"], []).append((event["gap_ms"], event["steps_redone"]))
        if done.returncode != 0:
            say("torchrun did not come to its end; what it gave until then is used")
            for log in sorted(pathlib.Path(folder).glob("agent-*.log")):
                say(f"--- {log.name}\n{log.read_text(errors='replace')[-1500:]}")
        return found


def loopback_seconds(megabytes):
    """To send so many bytes through one TCP connection on loopback: the time that bandwidth alone asks for."""
    listener = socket.create_server(("127.0.0.1", 0))
    chunk = bytes(1 << 20)

    def send():
        with socket.create_connection(listener.getsockname()) as out:
            for _ in range(megabytes):
                out.sendall(chunk)

    thread = threading.Thread(target=send)
    begin = time.monotonic()
    thread.start()
    received, buffer = 0, bytearray(1 << 20)
    with listener.accept()[0] as connection:
        while count := connection.recv_into(buffer):
            received += count
    thread.join()
    listener.close()
    assert received == megabytes << 20
    return time.monotonic() - begin


def run_large_state(repeat):
    with Cluster(os.environ["TIDEPOOL_BIN_DIR"], slots=4) as cluster:
        training = Training(cluster, "large-state", STATE_MB)
        bandwidth = []
        for number in range(repeat):
            say(f"libtidepool with {STATE_MB} MB of state: round {number + 1} of {repeat}")
            training.grow()
            training.shrink()
            bandwidth.append(loopback_seconds(STATE_MB) * 1e3)
        gap = stall_lines.median([g for g, _ in training.gaps()["grow"]])
        alone, step = stall_lines.median(bandwidth), training.normal_step_ms()
        result(f"grow_with_{STATE_MB}_mb_of_state", gap, "ms", alone, n=repeat, step_ms=round(step, 2),
               beyond_bandwidth_ms=round(gap - alone, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repetitions", type=int, default=int(os.environ.get("TIDEPOOL_REPEAT", "20")),
                        help="of each change (20, or TIDEPOOL_REPEAT)")
    parser.add_argument("--torchrun-repetitions", type=int, metavar="N",
                        default=int(os.environ.get("TIDEPOOL_TORCHRUN_REPEAT", "2")),
                        help="of each change under torchrun (2, or TIDEPOOL_TORCHRUN_REPEAT); 0 leaves it out")
    asked = parser.parse_args()
    repeat, torchrun_repeat = asked.repetitions, asked.torchrun_repetitions
    if repeat < 1 or torchrun_repeat < 0:
        parser.error("--repetitions must be 1 or more, --torchrun-repetitions 0 or more")
    gaps, step, (epochs, wrong) = run_tidepool(repeat)
    default = run_torchrun(torchrun_repeat, tuned=False) if torchrun_repeat > 0 else {}
    tuned = run_torchrun(torchrun_repeat, tuned=True) if torchrun_repeat > 0 else {}
    result("normal_step", step, "ms")
    for name in ("grow", "shrink", "kill", "replace"):
        mine = gaps.get(name)
        if not mine:
            continue
        median = stall_lines.median([gap for gap, _ in mine])
        common = {"n": len(mine), "steps": round(median / step, 2), "worst_ms": round(max(g for g, _ in mine), 1),
                  "steps_redone": sum(redone for _, redone in mine)}
        theirs = "kill" if name == "replace" else name
        for label, others in (("default", default), ("tuned", tuned)):
            if theirs in others:
                stalls, redone = zip(*others[theirs])
                result(f"{name}_gap_vs_torchrun_{label}", median, "ms", stall_lines.median(stalls), **common,
                       baseline_n=len(stalls), baseline_steps_redone=round(stall_lines.median(redone), 1))
        if theirs not in default and theirs not in tuned:
            result(f"{name}_gap", median, "ms", **common)
    result("samples_lost_or_repeated", wrong, "samples", epochs_audited=epochs)
    run_large_state(max(1, repeat // 4))


if __name__ == "__main__":
    try:
        import torch  # noqa: F401
    except ImportError:
        say(f"{sys.executable} cannot import torch: tools/install-packages --checks installs Debian's python3-torch")
        sys.exit(1)
    main()
