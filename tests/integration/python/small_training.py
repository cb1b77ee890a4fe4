"""What the tests of the Python package train, and the package itself found in the source tree.

Ends the test with exit code 77 and the reason if PyTorch is not there.
"""

import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
PACKAGE = SOURCE / "workers/python"
sys.path.insert(0, str(PACKAGE))

try:
    import torch
except ImportError as error:
    print(f"skipped: {sys.executable} cannot import torch ({error}); tools/install-packages --checks installs Debian's")
    sys.exit(77)

import tidepool as tp  # noqa: E402


def make_model(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))


def make_data(count=50, seed=1):
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(count, 6, generator=generator)
    return inputs, inputs[:, :3].argmax(dim=1)


def loss_of(model, x, y):
    return torch.nn.functional.cross_entropy(model(x), y)


def make_sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def wrapped(make_optimizer=make_sgd, **settings):
    """A job with a model and an optimizer, ready for its loop."""
    model = make_model()
    optimizer = make_optimizer(model)
    job = tp.init(**settings)
    job.wrap(model, optimizer)
    return job, model, optimizer


def one_step(optimizer, model, batch):
    loss = loss_of(model, *batch)
    loss.backward()
    optimizer.step()
