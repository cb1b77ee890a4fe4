"""tools/bench gpu from its first figure to its last, over stand-ins for CUDA and NCCL and with sizes for a CPU: what it
would print on a machine with a GPU is all there. The figures themselves mean nothing here."""

import json
import os
import pathlib
import subprocess
import unittest

TESTS = pathlib.Path(os.environ["TIDEPOOL_TESTS_DIR"])
METRICS = {
    "copy", "softmax_cross_entropy", "sgd", "pack", "row_sums", "product", "product_difference",
    "loss_difference_50_steps", "parameter_difference_50_steps", "charlm_step", "session_step",
    "state_to_host_and_hash", "nccl_1_rank_first_init", "nccl_1_rank_init", "nccl_1_rank_sum_through_host",
    "nccl_1_rank_abort", "nccl_1_rank_abort_and_free", "nccl_2_ranks_1_gpu_init", "nccl_2_ranks_1_gpu_sum_through_host",
    "nccl_2_ranks_1_gpu_sum_on_device", "nccl_2_ranks_1_gpu_death"}


class RehearsalTest(unittest.TestCase):
    def run_bench(self, **more):
        environment = {
            **os.environ, "TIDEPOOL_CUDART_LIBRARY": str(TESTS / "fake/libfake_cudart.so"),
            "TIDEPOOL_NCCL_LIBRARY": str(TESTS / "fake/libfake_nccl_2_28.so"), "FAKE_NCCL_DEATH": "error",
            "TIDEPOOL_GPU_LIBRARY": str(TESTS / "fake/libfake_tidepool_gpu.so"), **more}
        done = subprocess.run([TESTS / "gpu_bench", "--rehearse"], env=environment, capture_output=True, text=True,
                              timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_every_figure_is_there(self):
        lines = self.run_bench()
        self.assertEqual([line for line in lines if "skipped" in line], [])
        self.assertEqual({line["metric"] for line in lines}, METRICS)
        differences = {line["metric"]: line["value"] for line in lines if "difference" in line["metric"]}
        self.assertLess(max(differences.values()), 1e-3, differences)

    def test_without_a_gpu_it_says_so_and_succeeds(self):
        line, = self.run_bench(FAKE_CUDA_DEVICES="0")
        self.assertIn("no CUDA-capable device", line["skipped"])


if __name__ == "__main__":
    unittest.main()
