"""Whether tenants gain by sharing a pool: public traces split between 2 to 8 tenants with equal parts of it, dealt job
by job (then all tenants are busy at the same times) or hour by hour of submission (then their peaks are apart, as those
of users are), and virtual clusters of Philly as the tenants that they were. Live, jobs of 1 to 8 GPUs. One JSON line a
case: `value` is the mean completion time of all jobs in the shared pool over the same with each tenant alone on what it
is guaranteed, `worst` the highest such ratio of a tenant, `above` how many are above 1.05, `tenants` the ratios.
Metrics that begin with one_tenant: one tenant that is guaranteed everything, over no tenants at all. The last lines are
over all traces and numbers of tenants: means, and the highest ratio of a tenant; only if all are run.

Arguments: names of traces; none = all. Traces that are not there are skipped (public_traces.py)."""
import collections
import json
import math
import pathlib
import sys
import tempfile

from public_traces import DATA, TRACES, imported, in_own_form, missing, rows_of, schedctl, write_csv

RULES = ["--elastic-max", 8, "--restart-penalty", "30s", "--switch-stall", "2s"]
SPLITS = [2, 4, 8]
SEEDS = [1, 2, 3]
UNITS = {"tiresias_60": ["job"]}  # whose jobs all come within an hour; of the others job and hour
# Virtual clusters that were busy for weeks, over the two weeks from this day on, on nodes of 8.
VIRTUAL = ["0e4a51", "103959", "11cb48", "2869ce", "6c71a0", "b436b2", "e13805", "ed69ec"]
FROM, TO = "2017-11-01", "2017-11-15"
LOAD = 0.7  # what a tenant's jobs need at the size they asked for, of what it is guaranteed


def run(workload, cluster, *words):
    board = json.loads(schedctl("sim", "run", "--workload", workload, "--cluster", cluster, *RULES, *words))
    if board["completed"] != board["jobs"]:
        raise SystemExit(f"{workload}: {board['completed']} of {board['jobs']} jobs ended")
    return board


def tell(metric, value, **more):
    print(json.dumps({"bench": "sharing", "metric": metric, "value": round(value, 4), "unit": "ratio", **more}),
          flush=True)


def tell_sharing(name, boards):
    """Gives the mean of the boards and the ratios of their tenants."""
    of = [board["sharing"] for board in boards]
    tenants = [round(tenant["ratio"], 3) for sharing in of for tenant in sharing["tenants"] if tenant["ratio"]]
    value = sum(sharing["jobs_ratio"] for sharing in of) / len(of)
    tell(name, value, worst=max(tenants), mean=round(sum(tenants) / len(tenants), 4),
         above=sum(ratio > 1.05 for ratio in tenants), tenants=tenants,
         avg_jct_s=[round(board["avg_jct_s"]) for board in boards])
    return value, tenants


def of_a_trace(name, folder, sums):
    workload, cluster = imported(folder, name), TRACES[name][3]
    for unit in UNITS.get(name, ["job", "hour"]):
        for split in SPLITS:
            boards = [run(workload, cluster, "--split", split, "--deal", unit, "--seed", seed, "--alone")
                      for seed in SEEDS]
            sums[unit].append(tell_sharing(f"jct_{name}_{split}_tenants_by_{unit}", boards))
    one, none = run(workload, cluster, "--split", 1)["avg_jct_s"], run(workload, cluster)["avg_jct_s"]
    tell(f"one_tenant_{name}", one / none, avg_jct_s=[round(one), round(none)])
    sums["one_tenant"].append(one / none)


def tell_sums(sums):
    """Over all traces and numbers of tenants."""
    for unit in ("job", "hour"):
        if sums[unit]:
            tell(f"jct_all_by_{unit}", sum(value for value, _ in sums[unit]) / len(sums[unit]))
            tell(f"worst_tenant_by_{unit}", max(max(tenants) for _, tenants in sums[unit]))
    if sums["one_tenant"]:
        tell("one_tenant_most", max(sums["one_tenant"]))


def of_virtual_clusters(folder):
    """Jobs keep the tenants that they were of; each is guaranteed what makes it as busy as the others."""
    rows = rows_of(DATA / "philly" / "philly_pollux_extract.csv.gz")
    day, vc = rows[0].index("timestamp"), rows[0].index("cluster")
    raw = folder / "philly_vcs.raw.csv"
    write_csv(raw, [rows[0]] + [row for row in rows[1:] if row[vc] in VIRTUAL and FROM <= row[day] < TO])
    workload = in_own_form(folder, "philly_vcs", "philly", raw)
    header, *jobs = rows_of(workload)
    at = {column: header.index(column) for column in ("tenant", "gpus", "duration_s", "submit_s")}
    span = max(float(job[at["submit_s"]]) for job in jobs)
    work = {name: sum(int(job[at["gpus"]]) * float(job[at["duration_s"]]) for job in jobs if job[at["tenant"]] == name)
            for name in VIRTUAL}
    nodes = {name: max(1, math.ceil(seconds / span / LOAD / 8)) for name, seconds in work.items() if seconds}
    tree = folder / "tenants.yaml"
    tree.write_text("tenants:\n" + "".join(f"  - {{name: \"{name}\", guarantee: {8 * count}, weight: {count}}}\n"
                                           for name, count in nodes.items()))
    cluster = f"{sum(nodes.values())}x8"
    tell_sharing(f"jct_philly_vcs_{len(nodes)}_tenants", [run(workload, cluster, "--tenants", tree, "--alone")])


def main():
    sums = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name in sys.argv[1:] or [*TRACES, "philly_vcs"]:
            lacks = missing("philly_103959" if name == "philly_vcs" else name)
            if lacks:
                print(f"skipped {name}: there is no {lacks}", file=sys.stderr)
            elif name == "philly_vcs":
                of_virtual_clusters(folder)
            else:
                of_a_trace(name, folder, sums)
    if len(sys.argv) == 1:
        tell_sums(sums)


if __name__ == "__main__":
    main()
