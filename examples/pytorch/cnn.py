"""A small convolutional network that tells apart four shapes in noisy pictures, made as they are needed.

    PYTHONPATH=workers/python python3 examples/pytorch/cnn.py --epochs 2      # alone
    schedctl submit examples/pytorch/cnn.yaml                                 # with as many workers as pay
"""

import argparse

import torch
from torch import nn

import tidepool as tp

SHAPES = ("disc", "ring", "square", "cross")
SIDE = 20


class Shapes(torch.utils.data.Dataset):
    """Picture `index` is always the same: its shape, place, size and noise come from its number alone."""

    def __init__(self, count: int, seed: int = 0) -> None:
        self._count = count
        self._seed = seed
        axis = torch.arange(SIDE, dtype=torch.float32)
        self._y, self._x = torch.meshgrid(axis, axis, indexing="ij")

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        chance = torch.Generator().manual_seed(self._seed * 1_000_003 + index)
        label = index % len(SHAPES)
        place = torch.rand(3, generator=chance)
        radius = 4 + 3 * float(place[2])
        dx = self._x - (7 + 6 * place[0])
        dy = self._y - (7 + 6 * place[1])
        distance = (dx * dx + dy * dy).sqrt()
        inside = {
            "disc": distance < radius,
            "ring": (distance < radius) & (distance > radius - 2.5),
            "square": (dx.abs() < radius * 0.8) & (dy.abs() < radius * 0.8),
            "cross": ((dx.abs() < 1.5) | (dy.abs() < 1.5)) & (distance < radius),
        }[SHAPES[label]]
        picture = inside.float() + 0.4 * torch.randn(SIDE, SIDE, generator=chance)
        return picture.unsqueeze(0), label


def make_model() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Linear(128, len(SHAPES)))


def accuracy(model: nn.Module, pictures: Shapes, device: str) -> float:
    model.eval()
    with torch.no_grad():
        right = sum(int((model(x.to(device)).argmax(1) == y.to(device)).sum())
                    for x, y in torch.utils.data.DataLoader(pictures, 100))
    model.train()
    return right / len(pictures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--pictures", type=int, default=4_000)
    parser.add_argument("--batch", type=int, help="samples per step over all workers; default: the job file's, or 50")
    asked = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    model = make_model().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.7)
    job = tp.init(seed=1)
    model, optimizer = job.wrap(model, optimizer)
    job.register("schedule", schedule)
    loader = job.loader(Shapes(asked.pictures), asked.batch or (None if job.has_daemon else 50))
    unseen = Shapes(400, seed=1)
    for epoch in job.epochs(asked.epochs):
        for pictures, labels in loader:
            loss = nn.functional.cross_entropy(model(pictures.to(device)), labels.to(device))
            job.report(loss=loss)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
        if job.rank == 0:
            print(f"epoch {epoch}  loss {job.mean_loss:.3f}  right {accuracy(model, unseen, device):.1%}  {job.size} workers",
                  flush=True)


if __name__ == "__main__":
    main()
