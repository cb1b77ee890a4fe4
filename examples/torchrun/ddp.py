"""Data-parallel training as one would write it for torchrun: nothing in it knows of Tidepool.

It takes rank, size and rendezvous from the environment, saves a checkpoint every few steps and on SIGTERM, and goes on
from the newest one with however many processes there are. All ranks agree on the step at which they stop.
"""

import argparse
import os
import signal
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

stop_asked = False


def ask_stop(signal_number: int, frame: object) -> None:
    global stop_asked
    stop_asked = True


def save(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Complete before it is visible: a reader finds the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, partial)
    os.replace(partial, path)


def load(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    if not path.exists():
        return 0
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return int(state["step"])


def batch(step: int, rank: int, size: int, samples: int) -> tuple[torch.Tensor, torch.Tensor]:
    """This rank's share of the step's batch: y = sin(sum of x), the same data at every size."""
    generator = torch.Generator().manual_seed(step)
    inputs = torch.rand(samples, 8, generator=generator)[rank::size]
    return inputs, torch.sin(inputs.sum(dim=1, keepdim=True))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--save-every", type=int, default=100)
    parser.add_argument("--batch", type=int, default=240)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, ask_stop)

    on_gpu = torch.cuda.is_available()  # one GPU a worker: the first that it sees
    device = torch.device("cuda:0" if on_gpu else "cpu")
    dist.init_process_group("nccl" if on_gpu else "gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    checkpoint = Path(os.environ.get("TIDEPOOL_CHECKPOINT_DIR", "checkpoints")) / "ddp.pt"
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    step = load(checkpoint, model, optimizer)
    print(f"sums over {dist.get_backend()} on {device}", flush=True)
    print(f"rank {rank} of {size} continues from step {step}", flush=True)

    replica = DistributedDataParallel(model)
    stopping = torch.zeros(1, device=device)
    while step < options.steps and not stopping.item():
        inputs, targets = (part.to(device) for part in batch(step, rank, size, options.batch))
        loss = nn.functional.mse_loss(replica(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        stopping.fill_(1 if stop_asked else 0)
        dist.all_reduce(stopping, op=dist.ReduceOp.MAX)
        done = step == options.steps or stopping.item()
        if rank == 0 and (done or step % options.save_every == 0):
            save(checkpoint, model, optimizer, step)
            print(f"step {step} loss {loss.item():.5f} size {size}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
