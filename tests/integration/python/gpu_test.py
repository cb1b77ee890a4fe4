"""The Python package with tensors that count as a GPU's, without a GPU: over a stand-in for the CUDA runtime that knows
their memory as its own, so that every address, stream and copy that the package asks for is checked by the runtime."""

import ctypes
import os
import pathlib
import unittest
import unittest.mock

LIBRARIES = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"]).parent / "tests/fake"
os.environ["TIDEPOOL_CUDART_LIBRARY"] = str(LIBRARIES / "libfake_cudart.so")

from small_training import make_data, one_step, wrapped  # noqa: E402

import torch  # noqa: E402
from torch.utils.data import TensorDataset  # noqa: E402

import tidepool as tp  # noqa: E402
from tidepool import _abi, _device  # noqa: E402


class FakeGpu:
    """All tensors of PyTorch lie on it while it is entered. `lent`: the addresses that it knows."""

    def __init__(self):
        self.cuda = ctypes.CDLL(os.environ["TIDEPOOL_CUDART_LIBRARY"])
        self.cuda.tidepool_fake_lend.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self.cuda.tidepool_fake_release.argtypes = [ctypes.c_void_p]
        handle = ctypes.c_void_p()
        assert self.cuda.cudaStreamCreateWithFlags(ctypes.byref(handle), 1) == 0
        self.stream = handle.value
        self.lent = set()
        self.asked = []  # streams
        self.gradients = []  # address and count of what was lent to the session

    def take(self, address, length):
        self.lent.add(address)
        self.cuda.tidepool_fake_lend(address, length)

    def on_gpu(self, tensor):
        if tensor.numel() > 0:
            self.take(tensor.data_ptr(), tensor.numel() * tensor.element_size())
        return True

    def current_stream(self):
        self.asked.append(self.stream)
        return self.stream

    def __enter__(self):
        lend = _abi.Session.lend_gradients

        def watched(session, address, count):
            self.take(address, 4 * count)
            self.gradients.append((address, count))
            lend(session, address, count)

        self._patches = [unittest.mock.patch.object(_device, "on_gpu", self.on_gpu),
                         unittest.mock.patch.object(_abi.Session, "lend_gradients", watched),
                         unittest.mock.patch.object(_device, "current_stream", self.current_stream)]
        for patch in self._patches:
            patch.start()
        return self

    def __exit__(self, *_):
        for patch in self._patches:
            patch.stop()
        for address in self.lent:
            self.cuda.tidepool_fake_release(address)


def train(steps=8, **settings):
    """The parameters after a few steps in two buckets, and what was asked of the library."""
    job, model, optimizer = wrapped(bucket_mb=0.0001, **settings)
    for x, y in job.loader(TensorDataset(*make_data()), batch_size=16, steps=steps):
        optimizer.zero_grad()
        one_step(optimizer, model, (x, y))
    return [parameter.detach().clone() for parameter in model.parameters()]


class GpuTest(unittest.TestCase):
    def test_a_model_on_a_gpu_trains_as_on_the_cpu_and_nothing_of_it_is_copied(self):
        expected = train()
        registered, copies = {}, []
        register_device = _abi.Session.register_device

        def watch_register(session, name, address, length):
            registered[name] = address
            register_device(session, name, address, length)

        with FakeGpu() as gpu, unittest.mock.patch.object(_abi.Session, "register_device", watch_register), \
                unittest.mock.patch.object(_abi.Session, "gradients", lambda *_: copies.append("gradients")):
            job, model, optimizer = wrapped(bucket_mb=0.0001)
            for x, y in job.loader(TensorDataset(*make_data()), batch_size=16, steps=8):
                optimizer.zero_grad()
                one_step(optimizer, model, (x, y))
                (buffer, count), = gpu.gradients
                for parameter in model.parameters():  # views of the one buffer that the runtime sums
                    self.assertTrue(buffer <= parameter.grad.data_ptr() < buffer + 4 * count)
            asked = len(gpu.asked)
        self.assertEqual(copies, [])
        for name, parameter in model.named_parameters():
            self.assertEqual(registered[f"model.{name}"], parameter.data_ptr())
        self.assertTrue(any("momentum_buffer" in name for name in registered))
        for ours, theirs in zip(model.parameters(), expected):
            torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
        # Before the registration, join, each bucket but the last, each reduce and each commit.
        self.assertGreaterEqual(asked, 2 + 8 * 3)

    def test_no_gpu_is_told_in_words(self):
        with FakeGpu(), unittest.mock.patch.dict(os.environ, {"FAKE_CUDA_DEVICES": "0"}):
            with self.assertRaisesRegex(tp.TidepoolError, "no CUDA-capable device"):
                train()

    def test_memory_that_is_no_gpu_s_is_refused_by_name(self):
        with FakeGpu(), unittest.mock.patch.object(_device, "on_gpu", lambda _: True):
            with self.assertRaisesRegex(tp.TidepoolError, '"model.0.weight" is said to lie on the GPU'):
                train()

    def test_a_model_on_two_devices_and_a_tensor_on_another_gpu_are_refused_with_advice(self):
        with self.assertRaisesRegex(TypeError, "cpu and meta.*one device"):
            _device.common_device([torch.zeros(1), torch.zeros(1, device="meta")])
        other = unittest.mock.Mock(spec=torch.Tensor, device=torch.device("cuda", 1))
        with self.assertRaisesRegex(TypeError, r'"weight" lies on cuda:1.*model.to\("cuda:0"\)'):
            _device.refuse_unfit("weight", other)


if __name__ == "__main__":
    unittest.main()
