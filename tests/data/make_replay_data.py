#!/usr/bin/env python3
"""Writes tests/data/replay: small workloads and profiles in the forms that the replays read, of invented numbers.

They stand in for published measurements where those are absent: the same code reads them, but no figure that comes of
them says anything about any real system. Run without arguments after a change here; the files are checked in.
"""
import json
import pathlib
import random

OUT = pathlib.Path(__file__).resolve().parent / "replay"
# Two made-up applications: seconds to compute (base, each sample), to synchronize on one node and across nodes.
APPLICATIONS = {
    "glyphs": {"compute": (0.02, 0.0015), "local": 0.008, "across": 0.05, "batches": (32, 64, 128, 256), "epochs": 12,
               "progress": 9_000, "noise": 6.0, "local_batches": (16, 32, 64, 128)},
    "verses": {"compute": (0.05, 0.012), "local": 0.03, "across": 0.22, "batches": (8, 16, 32), "epochs": 8,
               "progress": 4_000, "noise": 2.5, "local_batches": (4, 8, 16)},
}
SIZES = (1, 2, 4, 8)


def write(path, header, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="\n") as file:
        file.write(header + "\n")
        for row in rows:
            file.write(",".join(str(cell) for cell in row) + "\n")


def step(application, nodes, size, batch):
    base, each = application["compute"]
    compute = base + each * batch
    sync = 0 if size == 1 else (application["local"] if nodes == 1 else application["across"]) * (1 + 0.04 * size)
    whole = (compute**2 + sync**2) ** 0.5
    return round(whole, 6), round(whole - compute, 6)


def pollux():
    placements = ["1", "2", "3", "4", "11", "12", "13", "22", "23", "24", "33", "34", "44", "14"]
    for name, application in APPLICATIONS.items():
        folder = OUT / "pollux" / "profiles" / name
        rows = [(placement, batch, *step(application, len(placement), sum(map(int, placement)), batch))
                for placement in placements for batch in application["local_batches"]]
        write(folder / "placements.csv", "placement,local_bsz,step_time,sync_time", rows)
        rows = [(nodes, size, batch, *step(application, nodes, size, batch))
                for nodes, size in ((3, 3), (3, 12), (4, 4), (4, 16)) for batch in application["local_batches"]]
        write(folder / "scalability.csv", "num_nodes,num_replicas,local_bsz,step_time,sync_time", rows)
        for batch in application["batches"]:
            scale = batch / application["batches"][0]
            rows = []
            for epoch in range(1, application["epochs"] + 1):
                done = application["progress"] * epoch / application["epochs"]
                var = application["noise"] * (1 + 0.1 * epoch)
                rows.append((round(done * (1 + 0.01 * scale), 3), round(done / scale**0.8, 3), 1.0, round(var, 4)))
            write(folder / f"validation-{batch}.csv", "progress,iteration,grad_sqr,grad_var", rows)
    chance = random.Random(1)
    rows = []
    at = 0.0
    for number in range(16):
        at += chance.expovariate(1 / 60)
        name = chance.choice(sorted(APPLICATIONS))
        batches = APPLICATIONS[name]["batches"]
        rows.append((f"{name}-{number}", int(at), name, chance.choice((1, 2)), chance.choice(batches[1:])))
    write(OUT / "pollux" / "jobs.csv", "name,time,application,num_replicas,batch_size", rows)


def elasticflow():
    speeds = {("glyphs", 64): 9.0, ("glyphs", 128): 5.0, ("verses", 16): 4.0}
    for model in sorted({model for model, batch in speeds}):
        rows = [(batch, *(round(alone * size / (1 + 0.09 * (size - 1)), 4) for size in SIZES))
                for (name, batch), alone in speeds.items() if name == model]
        write(OUT / "elasticflow" / "speeds" / f"{model}.csv", "global_batch_size," + ",".join(map(str, SIZES)), rows)
    chance = random.Random(2)
    rows = []
    at = 0.0
    for number in range(16):
        at += chance.expovariate(1 / 60)
        model, batch = chance.choice(sorted(speeds))
        size = chance.choice(SIZES[:3])
        duration = chance.randint(200, 3_000)
        steps = int(duration * speeds[model, batch] * size / (1 + 0.09 * (size - 1)))
        due = int(at + duration * chance.uniform(0.7, 2.5))
        rows.append((number, int(at), steps, model, due, batch, size, duration))
    write(OUT / "elasticflow" / "jobs.csv",
          "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration", rows)


def gavel():
    table = {"swift": {}, "steady": {}}
    for name, alone in (("Glyphs (batch size 64)", 9.0), ("Verses (batch size 16)", 4.0)):
        for size in SIZES[:3]:
            fast = round(alone * size / (1 + 0.09 * (size - 1)), 4)
            table["swift"][f"('{name}', {size})"] = {"null": fast}
            # Verses do not fit on steady slots.
            table["steady"][f"('{name}', {size})"] = {"null": 0.0 if name.startswith("Verses") else round(fast / 3, 4)}
    (OUT / "gavel").mkdir(parents=True, exist_ok=True)
    (OUT / "gavel" / "speeds.json").write_text(json.dumps(table, indent=1) + "\n")
    chance = random.Random(3)
    lines = []
    at = 0.0
    for _ in range(16):
        name, alone = chance.choice((("Glyphs (batch size 64)", 9.0), ("Verses (batch size 16)", 4.0)))
        size = chance.choice(SIZES[:3])
        steps = int(alone * size * chance.randint(600, 9_000))
        lines.append("\t".join(map(str, (name, "train", "data", "--steps", 1, steps, size, 1, -1, round(at, 3)))))
        at += chance.expovariate(1 / 700)
    (OUT / "gavel" / "jobs.trace").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    pollux()
    elasticflow()
    gavel()
