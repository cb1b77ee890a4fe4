#!/usr/bin/env python3
"""Records the compute times of a real run: a daemon, real worker processes, the reference trainer.

usage: tests/data/record_compute_times.py RANKS STEPS OUT.csv [--bin build/release/bin]

One line a step, one column a rank, in microseconds from the step's start to the allreduce. They are read out of the
daemon's journal, so they are what the daemon judges stragglers by. README.md here says when each file was taken.
"""
import argparse
import csv
import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

POLL_S = 1
PATIENCE_S = 3600


def call(url, token, path, body=None):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url + path, data, headers), timeout=30) as answer:
        return json.load(answer)


def job_of(ranks, steps, source):
    return {
        "name": "record-compute-times",
        "tenant": "demo",
        "run": {
            "trainer": "charlm",
            "workdir": str(source),
            "args": {"data": ["README.md", "docs"], "steps": steps, "hidden": 256},
        },
        "resources": {"gpus_per_worker": 1},
        "elastic": {"min": ranks, "max": ranks},
        "batch": {"global": 512 * ranks, "per_worker_max": 512},
    }


def train(daemon, job):
    """Runs the job on a daemon that has just been started, to its end."""
    for line in daemon.stdout:
        if line.startswith("ready "):
            ready = json.loads(line[len("ready "):])
            break
    else:
        sys.exit("the daemon did not start; run it by hand to see why")
    token = pathlib.Path(ready["token_file"]).read_text(encoding="utf-8").strip()
    job_id = call(ready["url"], token, "/v1/jobs", job)["id"]
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        state = call(ready["url"], token, f"/v1/jobs/{job_id}")
        if state["state"] in ("succeeded", "failed", "cancelled"):
            return state["state"]
        print(f"{state['state']}, step {state.get('progress', {}).get('step')}", file=sys.stderr, flush=True)
        time.sleep(POLL_S)
    return "still running after an hour"


def compute_times(state_dir, ranks):
    """Rows of the journal's step reports, in the order of the steps."""
    with sqlite3.connect(next(pathlib.Path(state_dir).glob("*.db"))) as journal:
        bodies = journal.execute("SELECT body FROM journal WHERE kind='fact' AND body LIKE '%compute_us%' ORDER BY seq")
        for (body,) in bodies:
            times = find_times(json.loads(body))
            yield from (times[i:i + ranks] for i in range(0, len(times), ranks))


def find_times(value):
    if isinstance(value, dict):
        if "compute_us" in value:
            return value["compute_us"]
        return next((found for each in value.values() if (found := find_times(each)) is not None), None)
    if isinstance(value, list):
        return next((found for each in value if (found := find_times(each)) is not None), None)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", type=int)
    parser.add_argument("steps", type=int)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    options = parser.parse_args()
    source = pathlib.Path(__file__).resolve().parents[2]
    folder = tempfile.mkdtemp(prefix="tidepool-record-")
    # The recording must not be disturbed by what it is for.
    (pathlib.Path(folder) / "config.yaml").write_text("engine: {replace_stragglers: false}\n")
    daemon = subprocess.Popen(
        [options.bin / "schedulerd", "--listen", "127.0.0.1:0", "--state-dir", f"{folder}/state", "--local-slots",
         str(options.ranks), "--config", f"{folder}/config.yaml", "--log-level", "error"],
        stdout=subprocess.PIPE, text=True)
    try:
        end = train(daemon, job_of(options.ranks, options.steps, source))
        rows = list(compute_times(f"{folder}/state", options.ranks))
    finally:
        daemon.terminate()
        daemon.wait()
    if end != "succeeded" or not rows:
        sys.exit(f"the job is {end}, {len(rows)} steps were recorded; its logs are in {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    with options.out.open("w", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(rows)
    print(f"{len(rows)} steps of {options.ranks} ranks in {options.out}")


if __name__ == "__main__":
    main()
