"""A whole training step of the PyTorch example's transformer in steady state, over two workers on loopback: the package
tidepool under the real daemon against DistributedDataParallel over gloo, with the same shares of the same batches.

The two take turns, so that a busy machine slows both; the medians of all rounds are compared.

    TIDEPOOL_REPEAT   rounds of each (3)
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests/support"))
sys.path.insert(0, str(SOURCE / "tests/bench"))

import stall_lines  # noqa: E402
from cluster import Cluster, eventually  # noqa: E402

PROGRAM = str(SOURCE / "tests/bench/step_time_training.py")
WORKERS = 2


def say(text):
    print(text, file=sys.stderr, flush=True)


def step_times(folder):
    """Milliseconds between two steps of the first worker, after the warm-up."""
    times = [line["t"] for line in stall_lines.read(folder) if line["rank"] == 0]
    return [(b - a) * 1e3 for a, b in zip(times, times[1:])][20:]


def tidepool_round():
    with Cluster(os.environ["TIDEPOOL_BIN_DIR"], slots=WORKERS) as cluster:
        folder = cluster.folder / "lines"
        folder.mkdir()
        path = f"{SOURCE / 'workers/python'}:{SOURCE / 'examples/pytorch'}"
        job = cluster.submit({
            "name": "step-time", "elastic": {"min": WORKERS, "max": WORKERS, "preferred": WORKERS},
            "run": {"command": [sys.executable, PROGRAM, str(folder), "tidepool"], "env": {"PYTHONPATH": path}},
            "batch": {"global": 32, "per_worker_max": 32}, "scaling": {"policy": "fixed"}})
        eventually(lambda: cluster.job(job)["state"] in ("succeeded", "failed"), 300)
        if cluster.job(job)["state"] != "succeeded":
            raise RuntimeError(f"the job is {cluster.job(job)['state']}\n{cluster.logs()}")
        return step_times(folder)


def parallel_round():
    with tempfile.TemporaryDirectory(prefix="tidepool-bench-") as folder:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(WORKERS),
                       "GLOO_SOCKET_IFNAME": "lo", "PYTHONPATH": str(SOURCE / "examples/pytorch") + ":" +
                       str(SOURCE / "workers/python")}
        command = [sys.executable, PROGRAM, folder, "parallel"]
        workers = [subprocess.Popen(command, env={**environment, "RANK": str(rank)}) for rank in range(WORKERS)]
        if any([worker.wait(timeout=300) for worker in workers]):
            raise RuntimeError("DistributedDataParallel did not come to its end")
        return step_times(folder)


def main():
    ours, theirs = [], []
    rounds = int(os.environ.get("TIDEPOOL_REPEAT", "3"))
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        ours += tidepool_round()
        theirs += parallel_round()
    value, baseline = stall_lines.median(ours), stall_lines.median(theirs)
    print(json.dumps({"bench": "pytorch_step_time", "metric": "transformer_2_workers_median",
                      "value": round(value, 3), "unit": "ms", "baseline": round(baseline, 3),
                      "ratio": round(value / baseline, 4), "n": len(ours)}))


if __name__ == "__main__":
    try:
        import torch  # noqa: F401
    except ImportError:
        say(f"{sys.executable} cannot import torch: tools/install-packages --checks installs Debian's python3-torch")
        sys.exit(1)
    main()
