"""A small transformer that learns to continue this project's documents, character by character.

    PYTHONPATH=workers/python python3 examples/pytorch/transformer.py --steps 50      # alone
    schedctl submit examples/pytorch/transformer.yaml                                 # with as many workers as pay
"""

import argparse
import pathlib

import torch
from torch import nn

import tidepool as tp

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Text(torch.utils.data.Dataset):
    """Windows of `context` characters, each with the characters that follow; half of a window overlaps the next."""

    def __init__(self, text: str, context: int) -> None:
        self.alphabet = sorted(set(text))
        number = {character: i for i, character in enumerate(self.alphabet)}
        self._codes = torch.tensor([number[character] for character in text])
        self._context = context
        self._stride = max(1, context // 2)

    def __len__(self) -> int:
        return max(0, (len(self._codes) - 1 - self._context) // self._stride + 1)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        begin = index * self._stride
        window = self._codes[begin:begin + self._context + 1]
        return window[:-1], window[1:]


class Block(nn.Module):
    """Attention to what came before, then a small network at each place (Vaswani et al. 2017, normalised first)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(width)
        self.questions_keys_values = nn.Linear(width, 3 * width, bias=False)
        self.mix = nn.Linear(width, width, bias=False)
        self.before_network = nn.LayerNorm(width)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor, future: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        mixed = self.questions_keys_values(self.before_attention(x))
        question, key, value = mixed.view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = question @ key.transpose(-2, -1) * (width // self.heads) ** -0.5
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
        x = x + self.mix((weights @ value).transpose(1, 2).reshape(batch, length, width))
        return x + self.network(self.before_network(x))


class Transformer(nn.Module):
    def __init__(self, characters: int, context: int, width: int = 64, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.characters = nn.Embedding(characters, width)
        self.places = nn.Parameter(0.02 * torch.randn(context, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.last = nn.LayerNorm(width)
        self.out = nn.Linear(width, characters)

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        x = self.characters(codes) + self.places
        future = torch.ones(codes.shape[1], codes.shape[1], dtype=torch.bool, device=codes.device).triu(1)
        for block in self.blocks:
            x = block(x, future)
        return self.out(self.last(x))


def read_documents() -> str:
    paths = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    paths += sorted((ROOT / "docs").rglob("*.md")) + sorted((ROOT / "api").rglob("*.md"))
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, help="samples per step over all workers; default: the job file's, or 32")
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--rate", type=float, default=2e-3)
    asked = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    dataset = Text(read_documents(), asked.context)
    model = Transformer(len(dataset.alphabet), asked.context).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=asked.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, asked.rate, total_steps=asked.steps + 1, pct_start=0.1)

    job = tp.init(seed=1)
    model, optimizer = job.wrap(model, optimizer)
    job.register("schedule", schedule)
    batch = asked.batch or (None if job.has_daemon else 32)
    for codes, following in job.loader(dataset, batch, steps=asked.steps):
        codes, following = codes.to(device), following.to(device)
        loss = nn.functional.cross_entropy(model(codes).flatten(0, 1), following.flatten())
        job.report(loss=loss)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if job.rank == 0 and job.step % 20 == 0:
            print(f"step {job.step}  loss {job.mean_loss:.3f}  {job.size} workers", flush=True)


if __name__ == "__main__":
    main()
