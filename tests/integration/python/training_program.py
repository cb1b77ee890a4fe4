"""The training script of the tests: a small classifier, and one line of JSON for each committed step.

Each worker draws its first weights from its own process id, so that equal replicas are the runtime's doing.
"""

import argparse
import hashlib
import json
import os
import pathlib
import time

import torch

import tidepool as tp


def make_optimizer(name, model):
    if name == "adam":
        return torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=0.001)
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.001)


def digest(model, optimizer):
    """Of everything a replica consists of."""
    sha = hashlib.sha256()
    for tensor in model.state_dict().values():
        sha.update(tensor.numpy().tobytes())
    for group in optimizer.param_groups:
        sha.update(repr(group["lr"]).encode())
        for parameter in group["params"]:
            for _, value in sorted(optimizer.state[parameter].items()):
                sha.update(value.numpy().tobytes())
    return sha.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path, help="for the lines")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--norm", choices=["BatchNorm1d", "LayerNorm"], default="BatchNorm1d")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--pause", type=float, default=0.005, help="seconds that each batch takes beside its computation")
    asked = parser.parse_args()
    data = torch.Generator().manual_seed(0)
    inputs = torch.randn(600, 8, generator=data)
    labels = (inputs[:, 0] * inputs[:, 1] > 0).long()
    torch.manual_seed(os.getpid())
    model = torch.nn.Sequential(torch.nn.Linear(8, 32), getattr(torch.nn, asked.norm)(32), torch.nn.ReLU(),
                                torch.nn.Dropout(0.1), torch.nn.Linear(32, 2))
    optimizer = make_optimizer(asked.optimizer, model)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.999)
    job = tp.init(seed=3, bucket_mb=0.0005)  # several buckets
    model, optimizer = job.wrap(model, optimizer)
    job.register("scheduler", scheduler)
    job.batch_rule(lambda question: (asked.batch * question.size ** 2, float(question.size)))  # for `callback`
    resizes = []
    job.on_resize(lambda change: resizes.append([change.old_size, change.new_size, change.step]))
    lines = open(asked.folder / f"{os.environ.get('TIDEPOOL_WORKER', 'alone')}.jsonl", "a", buffering=1)

    def tell(**fields):
        lines.write(json.dumps({"pid": os.getpid(), **fields}) + "\n")

    tell(event="started")
    dataset = torch.utils.data.TensorDataset(inputs, labels)
    for x, y in job.loader(dataset, batch_size=asked.batch, micro_batch=25, epochs=asked.epochs):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        job.report(loss=loss)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        before = job.step
        optimizer.step()
        scheduler.step()
        if job.step > before:
            tell(event="step", step=job.step, size=job.size, rank=job.rank, generation=job.generation,
                 batch=job.batch_size, digest=digest(model, optimizer), loss=job.mean_loss, resizes=resizes)
        time.sleep(asked.pause)
    tell(event="ended", finished=job.finished, step=job.step)


if __name__ == "__main__":
    main()
