"""The job of the elastic_stall benchmark: one small network, trained by libtidepool or by torchrun.

A step takes --step-ms whatever the load, most of it asleep, as if a GPU computed: so several workers on few cores still
show the runtime's own stall. Each worker appends one line of JSON for each step that it has applied.
"""

import argparse
import json
import os
import pathlib
import time

STARTED = time.monotonic()
import torch  # noqa: E402
from torch import nn  # noqa: E402

BATCH = 48
CHECKPOINT_EVERY = 20


def make_model():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    return model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


def make_data():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(960, 64, generator=generator), torch.randint(0, 10, (960,), generator=generator)


class Lines:
    def __init__(self, folder):
        self.folder = folder
        self._file = open(folder / f"{os.getpid()}.jsonl", "a", buffering=1)

    def tell(self, **fields):
        self._file.write(json.dumps({"t": time.monotonic(), "pid": os.getpid(), **fields}) + "\n")

    def pause(self, begin, step_ms):
        """Until the step has lasted long enough; longer on the worker that slow.txt names."""
        factor = 1.0
        slow = self.folder / "slow.txt"
        if slow.exists() and slow.read_text().strip() == os.environ.get("TIDEPOOL_WORKER"):
            factor = 2.5
        time.sleep(max(0.0, begin + factor * step_ms / 1e3 - time.monotonic()))


def train_with_tidepool(lines, asked):
    import tidepool as tp
    model, optimizer = make_model()
    job = tp.init()
    model, optimizer = job.wrap(model, optimizer)
    ballast = torch.ones(asked.state_mb * (1 << 18))
    if asked.state_mb > 0:
        job.register("ballast", ballast)
    lines.tell(event="ready", import_s=time.monotonic() - STARTED, worker=os.environ.get("TIDEPOOL_WORKER"))
    dataset = torch.utils.data.TensorDataset(*make_data())
    begin = time.monotonic()
    for x, y in job.loader(dataset, batch_size=BATCH, steps=10_000_000):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        job.report(loss=loss)
        lines.pause(begin, asked.step_ms)
        loss.backward()
        before = job.step
        optimizer.step()
        if job.step > before:
            if asked.state_mb > 0:
                ballast.mul_(0.999)  # like an optimizer's: every byte is new after every step
            lines.tell(event="step", step=job.step, size=job.size, rank=job.rank, generation=job.generation,
                       worker=os.environ.get("TIDEPOOL_WORKER"))
        begin = time.monotonic()


def train_with_torchrun(lines, asked):
    import torch.distributed as dist
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    model, optimizer = make_model()
    checkpoint = lines.folder / "checkpoint.pt"
    step = 0
    if checkpoint.exists():
        saved = torch.load(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]
    model = nn.parallel.DistributedDataParallel(model)
    inputs, labels = make_data()
    share = BATCH // size
    lines.tell(event="ready", import_s=time.monotonic() - STARTED, rank=rank, size=size, resumed=step,
               node=os.environ["NODE_TAG"])
    begin = time.monotonic()
    while True:
        first = (step * BATCH + rank * share) % len(inputs)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs[first:first + share]), labels[first:first + share])
        lines.pause(begin, asked.step_ms)
        loss.backward()
        optimizer.step()
        step += 1
        lines.tell(event="step", step=step, size=size, rank=rank, node=os.environ["NODE_TAG"])
        if rank == 0 and step % CHECKPOINT_EVERY == 0:
            state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, f"{checkpoint}.new")
            os.replace(f"{checkpoint}.new", checkpoint)
        begin = time.monotonic()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path, help="for the lines")
    parser.add_argument("--runtime", choices=["tidepool", "torchrun"], required=True)
    parser.add_argument("--step-ms", type=float, default=50)
    parser.add_argument("--state-mb", type=int, default=0, help="more state that a joining worker must receive")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    lines = Lines(asked.folder)
    (train_with_tidepool if asked.runtime == "tidepool" else train_with_torchrun)(lines, asked)


if __name__ == "__main__":
    main()
