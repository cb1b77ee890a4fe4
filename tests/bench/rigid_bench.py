"""Jobs of a fixed size under `tidal` beside shortest-remaining-first, two-dimensional least attained service (Tiresias)
and first-come-first-served with backfill: workloads drawn from seeds and public traces, replayed in rounds and live,
with declared and with unknown work. One JSON line a case; `value` is the average completion time under `tidal`,
`baseline` the least of the others, `ftf` the worst finish-time fairness. A drawn workload is the mean of three seeds.

The traces are read from TIDEPOOL_DATA, or shared/data beside the checkout; without them only what is drawn is run.
Arguments: names of workloads; none = all."""
import json
import pathlib
import sys
import tempfile

from public_traces import TRACES, imported, missing, schedctl

POLICIES = ["tidal", "srtf", "tiresias", "backfill"]
SEEDS = [1, 2, 3]
RESTART = "30s"
DRAWN = ["backlog", "floods", "gangs", "heavy"]
RIGID_TRACES = ["itp_195", "itp_cluster01", "philly_103959", "philly_2869ce", "tiresias_60"]
RULES = {
    ("replayed", "declared"): ["--simulator", "rigid", "--declared-work"],
    ("replayed", "unknown"): ["--simulator", "rigid"],
    ("live", "declared"): ["--simulator", "live"],
    ("live", "unknown"): ["--simulator", "live", "--undeclared-work"],
}


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
    asked = sys.argv[1:] or [*DRAWN, *RIGID_TRACES]
    with tempfile.TemporaryDirectory() as temporary:
        for name in asked:
            if name in DRAWN:
                workloads, cluster = [f"rigid:{name}:{seed}" for seed in SEEDS], "8x8"
            elif missing(name):
                print(f"skipped {name}: there is no {missing(name)}", file=sys.stderr)
                continue
            else:
                workloads, cluster = [imported(pathlib.Path(temporary), name)], TRACES[name][3]
            for how in RULES:
                case(name, how, workloads, cluster)


if __name__ == "__main__":
    main()
