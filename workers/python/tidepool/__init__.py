"""Elastic data-parallel training with PyTorch: workers join, leave or die, and the training goes on.

    import tidepool as tp

    job = tp.init()
    model, opt = job.wrap(model, opt)
    for x, y in job.loader(dataset, batch_size=256, epochs=3):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        job.report(loss=loss)
        opt.zero_grad()
        loss.backward()
        opt.step()

Alone (`python train.py`) this is an ordinary loop with one worker. As the `run.command` of a Tidepool job it runs with
any number of them. The batch size is the step's over all workers, so the result does not depend on their number.
"""

from tidepool._abi import BatchQuestion, Notice, TidepoolError
from tidepool._job import Job
from tidepool._loader import Loader
from tidepool._library import LibraryNotFound
from tidepool._settings import JobOptions
from tidepool._stepping import Resize

__all__ = ["BatchQuestion", "Job", "JobOptions", "LibraryNotFound", "Loader", "Notice", "Resize", "TidepoolError",
           "init"]
__version__ = "0.1.0"


def init(*, seed: int = 1, loss: str = "mean", warmup_steps: int = 8, noise_every: int = 10,
         bucket_mb: float = 4.0, exit_when_left: bool = True) -> Job:
    """Creates the job: alone, or the part of the job for which the agent started this process. See JobOptions for the
    settings; `seed` is that of the order of the samples, the same on all workers."""
    return Job(JobOptions(seed=seed, loss=loss, warmup_steps=warmup_steps, noise_every=noise_every,
                          bucket_mb=bucket_mb, exit_when_left=exit_when_left))
