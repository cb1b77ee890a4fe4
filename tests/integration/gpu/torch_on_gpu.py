"""A small network on the GPU through the tidepool package; says now and then how far it is."""

import argparse
import os

import torch

import tidepool as tp


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    steps = parser.parse_args().steps
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(6000, 8, generator=generator)
    labels = (inputs[:, 0] * inputs[:, 1] > 0).long()
    torch.manual_seed(os.getpid())
    model = torch.nn.Sequential(torch.nn.Linear(8, 512), torch.nn.ReLU(), torch.nn.Linear(512, 2)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    job = tp.init(seed=3, bucket_mb=0.001)  # several buckets
    model, optimizer = job.wrap(model, optimizer)
    print("begins at step", job.step, flush=True)
    for x, y in job.loader(torch.utils.data.TensorDataset(inputs, labels), batch_size=512, steps=steps):
        loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        job.report(loss=loss)
        optimizer.zero_grad()
        loss.backward()
        before = job.step
        optimizer.step()
        if job.step > before and job.step % 100 == 0:
            print("step", job.step, "loss", round(job.mean_loss, 5), "size", job.size, flush=True)


if __name__ == "__main__":
    main()
