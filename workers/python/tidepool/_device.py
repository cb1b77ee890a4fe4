"""Which tensors lie on the GPU, and the stream on which PyTorch works there.

A worker uses one GPU: the first that CUDA_VISIBLE_DEVICES shows, which is cuda:0 to PyTorch and to the runtime.
"""

from __future__ import annotations

from typing import Iterable

import torch


def on_gpu(tensor: torch.Tensor) -> bool:
    """Whether the runtime has to treat the tensor's memory as the GPU's."""
    return tensor.device.type == "cuda"


def current_stream() -> int:
    """The address of the CUDA stream on which the calling thread's work is enqueued now."""
    return int(torch.cuda.current_stream().cuda_stream)


def refuse_unfit(name: str, tensor: torch.Tensor) -> None:
    """Raises unless the runtime can share the tensor where it lies."""
    device = tensor.device
    if device.type not in ("cpu", "cuda"):
        raise TypeError(f'"{name}" lies on {device}: the workers share tensors of the CPU and of CUDA; move the model '
                        'with model.to("cuda") or model.to("cpu") before job.wrap()')
    if device.type == "cuda" and (device.index or 0) != 0:
        raise TypeError(f'"{name}" lies on {device}: a worker uses the first GPU that it sees; move the model with '
                        'model.to("cuda:0") before job.wrap()')
    if not tensor.is_contiguous() or tensor.is_sparse:
        raise TypeError(f'"{name}" must be a dense tensor without gaps: register tensor.contiguous()')


def common_device(tensors: Iterable[torch.Tensor]) -> torch.device:
    """The device that all of them lie on; TypeError if there are several."""
    devices = {tensor.device for tensor in tensors}
    if len(devices) != 1:
        raise TypeError("the model's parameters lie on " + " and ".join(sorted(str(device) for device in devices)) +
                        ": their gradients are summed in one buffer, so move the whole model to one device before "
                        "job.wrap()")
    return devices.pop()
