"""The job of the pytorch_step_time benchmark: the example's transformer, by tidepool or by DistributedDataParallel."""

import pathlib
import sys

import torch
from torch import nn

from stall_training import Lines
from transformer import Text, Transformer, read_documents

BATCH = 32
CONTEXT = 64
STEPS = 120


def make():
    torch.manual_seed(1)
    dataset = Text(read_documents(), CONTEXT)
    model = Transformer(len(dataset.alphabet), CONTEXT)
    return dataset, model


def loss_of(model, codes, following):
    return nn.functional.cross_entropy(model(codes).flatten(0, 1), following.flatten())


def train_with_tidepool(lines):
    import tidepool as tp
    dataset, model = make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    job = tp.init()
    model, optimizer = job.wrap(model, optimizer)
    for codes, following in job.loader(dataset, BATCH, steps=STEPS):
        loss = loss_of(model, codes, following)
        job.report(loss=loss)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        lines.tell(event="step", step=job.step, rank=job.rank)


def train_in_parallel(lines):
    torch.distributed.init_process_group("gloo")
    rank, size = torch.distributed.get_rank(), torch.distributed.get_world_size()
    dataset, model = make()
    model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(1)).tolist()
    share = BATCH // size
    for step in range(STEPS):
        first = (step * BATCH + rank * share) % (len(dataset) - share)
        samples = [dataset[i] for i in order[first:first + share]]
        codes, following = torch.utils.data.dataloader.default_collate(samples)
        loss = loss_of(model, codes, following)
        loss.item()  # a training loop looks at its loss; tidepool's does at each step
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        lines.tell(event="step", step=step + 1, rank=rank)


if __name__ == "__main__":
    torch.set_num_threads(1)
    {"tidepool": train_with_tidepool, "parallel": train_in_parallel}[sys.argv[2]](Lines(pathlib.Path(sys.argv[1])))
