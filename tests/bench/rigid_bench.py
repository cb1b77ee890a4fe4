"""Jobs of a fixed size under `tidal` beside shortest-remaining-first, two-dimensional least attained service (Tiresias)
and first-come-first-served with backfill: workloads drawn from seeds and public traces, replayed in rounds and live,
with declared and with unknown work. One JSON line a case; `value` is the average completion time under `tidal`,
`baseline` the least of the others, `ftf` the worst finish-time fairness. A drawn workload is the mean of three seeds.

The traces are read from TIDEPOOL_DATA, or shared/data beside the checkout; without them only what is drawn is run.
Arguments: names of workloads; none = all."""
import csv
import gzip
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

POLICIES = ["tidal", "srtf", "tiresias", "backfill"]
SEEDS = [1, 2, 3]
RESTART = "30s"
DRAWN = ["backlog", "floods", "gangs", "heavy"]
# name: folder, file, format, cluster, virtual cluster of Philly
TRACES = {
    "itp_195": ("itp", "195job.csv", "elasticflow", "16x4", None),
    "itp_cluster01": ("itp", "cluster01.csv", "elasticflow", "8x8", None),
    "philly_103959": ("philly", "philly_pollux_extract.csv.gz", "philly", "3x8", "103959"),
    "philly_2869ce": ("philly", "philly_pollux_extract.csv.gz", "philly", "5x8", "2869ce"),
    "tiresias_60": ("tiresias", "60_job.csv", "tiresias", "4x4", None),
}
RULES = {
    ("replayed", "declared"): ["--simulator", "rigid", "--declared-work"],
    ("replayed", "unknown"): ["--simulator", "rigid"],
    ("live", "declared"): ["--simulator", "live"],
    ("live", "unknown"): ["--simulator", "live", "--undeclared-work"],
}

SOURCE = pathlib.Path(os.environ.get("TIDEPOOL_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
SCHEDCTL = pathlib.Path(os.environ.get("TIDEPOOL_BIN_DIR", SOURCE / "build/release/bin")) / "schedctl"
DATA = pathlib.Path(os.environ.get("TIDEPOOL_DATA", SOURCE / "../shared/data"))


def schedctl(*arguments):
    return subprocess.run([SCHEDCTL, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL).stdout


def of_virtual_cluster(path, name):
    """The rows of one virtual cluster, which is a cluster of its own."""
    with gzip.open(path, "rt") as lines:
        rows = list(csv.reader(lines))
    at = rows[0].index("cluster")
    return [rows[0]] + [row for row in rows[1:] if row and row[at] == name]


def write_csv(path, rows):
    with open(path, "w", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(rows)


def imported(folder, name):
    """The trace as a file in Tidepool's form, without deadlines: none of the baselines knows them."""
    data, file, form, _, virtual_cluster = TRACES[name]
    path = DATA / data / file
    if virtual_cluster:
        path, rows = folder / f"{name}.raw.csv", of_virtual_cluster(path, virtual_cluster)
        write_csv(path, rows)
    rows = list(csv.reader(io.StringIO(schedctl("trace", "import", "--from", form, "-o", "-", path))))
    at = rows[0].index("deadline_s")
    for row in rows[1:]:
        row[at] = ""
    out = folder / f"{name}.csv"
    write_csv(out, rows)
    return out


def run(workload, cluster, policy, rules):
    board = json.loads(schedctl("sim", "run", "--workload", workload, "--cluster", cluster, "--policy", policy,
                                "--restart-penalty", RESTART, *rules))
    if board["completed"] != board["jobs"]:
        raise SystemExit(f"{workload} under {policy}: {board['completed']} of {board['jobs']} jobs ended")
    return board


def figures(workloads, cluster, policy, rules):
    boards = [run(workload, cluster, policy, rules) for workload in workloads]
    mean = lambda key: sum(board[key] for board in boards) / len(boards)
    return {"avg": mean("avg_jct_s"), "p99": mean("p99_jct_s"), "ftf": max(board["ftf_worst"] for board in boards)}


def case(name, how, workloads, cluster):
    of = {policy: figures(workloads, cluster, policy, RULES[how]) for policy in POLICIES}
    others = POLICIES[1:]
    best = {key: min(of[policy][key] for policy in others) for key in ("avg", "p99", "ftf")}
    told = {key: {policy: round(of[policy][key], 2) for policy in POLICIES} for key in ("avg", "p99", "ftf")}
    print(json.dumps({"bench": "rigid", "metric": f"avg_jct_{name}_{how[0]}_{how[1]}",
                      "value": round(of["tidal"]["avg"], 1), "unit": "s", "baseline": round(best["avg"], 1),
                      "ratio": round(of["tidal"]["avg"] / best["avg"], 3),
                      "ftf_ratio": round(of["tidal"]["ftf"] / best["ftf"], 3), **told}), flush=True)


def main():
    asked = sys.argv[1:] or [*DRAWN, *TRACES]
    with tempfile.TemporaryDirectory() as temporary:
        for name in asked:
            if name in DRAWN:
                workloads, cluster = [f"rigid:{name}:{seed}" for seed in SEEDS], "8x8"
            elif not (DATA / TRACES[name][0]).is_dir():
                print(f"skipped {name}: there is no {DATA / TRACES[name][0]}", file=sys.stderr)
                continue
            else:
                workloads, cluster = [imported(pathlib.Path(temporary), name)], TRACES[name][3]
            for how in RULES:
                case(name, how, workloads, cluster)


if __name__ == "__main__":
    main()
