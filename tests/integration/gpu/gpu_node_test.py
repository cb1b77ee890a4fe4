"""A node with a real GPU: what jobs see of it and do with it, under isolation where the node can keep it.

Skipped where the driver shows no GPU. `TIDEPOOL_CUDA_PYTHON` names a Python whose PyTorch has CUDA (default: this one).
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["TIDEPOOL_BIN_DIR"])
sys.path.insert(0, str(SOURCE))

from tests.support.agents_beside import AgentsBeside  # noqa: E402
from tests.support.cluster import eventually  # noqa: E402

PYTHON = os.environ.get("TIDEPOOL_CUDA_PYTHON", sys.executable)
LIBRARIES = os.environ.get("LD_LIBRARY_PATH", "")
ENDED = ("succeeded", "failed", "cancelled")
tempfile.tempdir = "/var/lib" if os.access("/var/lib", os.W_OK) else None  # isolated jobs do not see the host's /tmp


def gpus():
    """UUID and name of each, as the driver's own tool tells."""
    try:
        told = subprocess.run(["nvidia-smi", "--query-gpu=uuid,name", "--format=csv,noheader"], text=True,
                              capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = told.stdout.splitlines() if told.returncode == 0 else []
    return [tuple(part.strip() for part in line.split(",")) for line in lines]


def processes_on_gpus():
    """How many hold memory of a GPU."""
    told = subprocess.run(["nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"], text=True,
                          capture_output=True, timeout=60, check=True)
    return len(told.stdout.split())


def pids_of(program, word):
    """Of processes of this program with the word in their command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if words and words[0] == str(program).encode() and str(word).encode() in words:
            found.append(int(entry.name))
    return found


GPUS = gpus()
TORCH = subprocess.run([PYTHON, "-c", "import torch; torch.zeros(1, device='cuda')"], capture_output=True,
                       text=True) if GPUS else None
NO_TORCH = None if TORCH and TORCH.returncode == 0 else f"{PYTHON} has no PyTorch with CUDA"


class Host(AgentsBeside):
    def __init__(self):
        super().__init__(str(BIN))

    def run(self, name, *words, most=1, batch=None, **fields):
        """Through env(1), which may set the loader's path; a job file may not."""
        return self.submit({
            "name": name, "run": {"command": ["/usr/bin/env", f"LD_LIBRARY_PATH={LIBRARIES}", *map(str, words)],
                                  **fields},
            "elastic": {"min": 1, "max": most, "preferred": 1, "cooldown": "0s"},
            "batch": batch or {"global": 1}, "scaling": {"policy": "fixed"}})

    def output(self, job):
        return "\n".join(self.outputs(job))

    def step(self, job):
        return self.job(job)["progress"]["step"]

    def ended(self, job, seconds=120):
        eventually(lambda: self.job(job)["state"] in ENDED, seconds)
        return self.job(job)["state"]


class GpuNodeTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if not GPUS:
            self.skipTest("the driver shows no GPU")

    def open(self, **agents):
        host = Host()
        self.addCleanup(host.close)
        for name, arguments in agents.items():
            host.start_agent(name, *arguments)
        for name in agents:
            self.assertTrue(eventually(lambda: host.node(name), 120), host.logs())
        return host

    def succeeds(self, host, job, seconds=120):
        self.assertEqual(host.ended(job, seconds), "succeeded", f"{host.job(job)}\n{host.logs()}")

    def test_a_node_offers_its_gpus_under_their_name(self):
        host = self.open(here=[])
        node = host.node("here")
        print("node:", json.dumps({name: node[name] for name in ("slot_type", "isolation")}), flush=True)
        self.assertEqual(len(node["slots"]), len(GPUS))
        self.assertEqual(node["slot_type"], re.sub("[^a-z0-9.]+", "-", GPUS[0][1].lower()))

    def test_a_job_computes_on_its_own_gpu_and_another_slot_shows_none(self):
        if NO_TORCH:
            self.skipTest(NO_TORCH)
        host = self.open(here=[], beside=["--slots", "1", "--slot-type", "plain"])
        probe = host.show(HERE / "look_at_gpus.py")
        seen = {}
        for slot_type in (host.node("here")["slot_type"], "plain"):
            job = host.submit({
                "name": "look", "run": {"command": ["/usr/bin/env", f"LD_LIBRARY_PATH={LIBRARIES}", PYTHON, probe],
                                        "resize": "restart"},
                "resources": {"gpu": {"type": slot_type}}, "elastic": {"min": 1, "max": 1}, "batch": {"global": 1},
                "scaling": {"policy": "fixed"}})
            self.succeeds(host, job)
            seen[slot_type] = json.loads(re.search("^seen (.*)$", host.output(job), re.M).group(1))
        print("seen:", json.dumps(seen), flush=True)
        own, plain = seen.values()
        self.assertEqual((own["visible"], own["correct"]), (1, True))
        self.assertEqual(plain["visible"], 0)
        if "devices" in host.node("beside")["isolation"]["kept"]:
            self.assertEqual(plain["files"], [])
            self.assertEqual(len([name for name in own["files"] if re.fullmatch("nvidia[0-9]+", name)]), 1)

    def test_a_trainer_on_the_gpu_is_suspended_and_goes_on_where_it_was(self):
        host = self.open(here=[])
        text = host.show_text("the tide comes in and the tide goes out\n" * 4000)
        job = host.run("suspended", BIN / "tidepool-trainer", "charlm", "--data", text, "--steps", 10_000_000,
                       "--hidden", 2048, "--device", "gpu", "--batch", 2048,
                       batch={"global": 2048, "per_worker_max": 2048})
        steps = lambda: host.step(job)  # noqa: E731
        self.assertTrue(eventually(lambda: steps() > 200, 120), f"{host.job(job)}\n{host.logs()}")
        self.assertEqual(processes_on_gpus(), 1)
        host.call("POST", f"/v1/jobs/{job}/suspend", {})
        self.assertTrue(eventually(lambda: not any(slot["busy"] for slot in host.node("here")["slots"])), host.logs())
        self.assertEqual(processes_on_gpus(), 0)
        before = steps()
        host.call("POST", f"/v1/jobs/{job}/resume", {})
        self.assertTrue(eventually(lambda: steps() > before + 200, 120), f"{host.job(job)}\n{host.logs()}")
        restored = [event["data"]["step"] for event in host.events("job.restored")]
        self.assertEqual(restored, [before], host.logs())

    def test_a_killed_pytorch_worker_is_made_up_for(self):
        if NO_TORCH:
            self.skipTest(NO_TORCH)
        host = self.open(here=[])
        script = host.show(HERE / "torch_on_gpu.py")
        job = host.run("torch", PYTHON, script, "--steps", "1500", env={"PYTHONPATH": str(SOURCE / "workers/python")},
                       batch={"global": 512, "per_worker_max": 512})
        self.assertTrue(eventually(lambda: "step 300 " in host.output(job), 120), f"{host.job(job)}\n{host.logs()}")
        worker, = pids_of(PYTHON, script)
        os.kill(worker, signal.SIGKILL)
        self.succeeds(host, job, 180)
        self.assertEqual(processes_on_gpus(), 0)
        print(host.output(job)[-600:], flush=True)

    def test_an_example_of_the_package_trains_on_the_gpu(self):
        if NO_TORCH:
            self.skipTest(NO_TORCH)
        host = self.open(here=[])
        script = host.show(SOURCE / "examples/pytorch/cnn.py")
        job = host.run("cnn", PYTHON, script, "--epochs", "2", "--pictures", "400",
                       env={"PYTHONPATH": str(SOURCE / "workers/python")}, batch={"global": 50, "per_worker_max": 50})
        self.succeeds(host, job)
        self.assertIn("epoch 1 ", host.output(job))

    def test_torchrun_s_programs_sum_over_nccl(self):
        if NO_TORCH:
            self.skipTest(NO_TORCH)
        host = self.open(here=[])
        script = host.show(SOURCE / "examples/torchrun/ddp.py")
        job = host.run("ddp", PYTHON, script, "--steps", "500", resize="restart")
        self.succeeds(host, job)
        self.assertRegex(host.output(job), "sums over nccl on cuda:0")

    def test_everything_that_is_measured_on_gpus_runs_as_a_job_too(self):
        bench = pathlib.Path(os.environ.get("TIDEPOOL_GPU_BENCH", ""))
        if not bench.is_file():
            self.skipTest("gpu_bench was not built")
        host = self.open(here=[])
        job = host.run("measured", bench, resize="restart")
        self.succeeds(host, job, 240)
        lines = [json.loads(line) for line in host.output(job).splitlines() if line.startswith("{")]
        self.assertEqual([line for line in lines if "skipped" in line], [])
        for metric in ("nccl_2_ranks_1_gpu_death", "session_step"):
            self.assertIn(metric, [line["metric"] for line in lines], host.output(job))

    def test_a_gpu_is_offered_by_one_agent(self):
        host = self.open(here=[])
        host.start_agent("beside")
        self.assertNotEqual(host.agents["beside"].wait(60), 0)
        self.assertIn(f"offers {GPUS[0][0]} already", host.log_of("beside").read_text())

    # Several agents offer the same GPU, and NCCL takes their workers for those of several hosts. A slot that is left
    # stays in quarantine, as the workers of other agents hold memory of its GPU; so each agent is used once.
    def open_several(self):
        if os.geteuid() != 0:
            self.skipTest("agents that do not see each other's locks need root")
        one = ["--gpus", GPUS[0][0], "--probe", "never", "--data-address", "127.0.0.1"]
        alone = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /run/tidepool && exec \"$@\"", "sh"]
        pathlib.Path("/run/tidepool").mkdir(exist_ok=True)
        host = Host()
        self.addCleanup(host.close)
        for number, name in enumerate(("first", "second", "third", "fourth")):
            users = f"{200_000 + 1_000 * number}-{200_999 + 1_000 * number}"
            host.start_agent(name, *one, "--job-uids", users, before=alone)
        for name in host.agents:
            self.assertTrue(eventually(lambda: host.node(name), 120), host.logs())
        return host

    def grows_shrinks_and_survives(self, host, program, file, arguments, env=None):
        line = (f"TIDEPOOL_BACKEND=nccl NCCL_HOSTID=$TIDEPOOL_WORKER NCCL_MAX_NCHANNELS=1 NCCL_DEBUG=WARN LD_LIBRARY_PATH={LIBRARIES} exec "
                f"{program} {arguments}")
        job = host.run("elastic", "/bin/sh", "-c", line, most=2, batch={"global": 512, "per_worker_max": 512},
                       env=env or {})
        told = lambda: f"{host.job(job)}\n{host.logs()}"  # noqa: E731
        at = lambda size: host.job(job)["size"] == size and host.job(job)["state"] == "running"  # noqa: E731
        goes_on = lambda size, step: at(size) and host.step(job) > step + 50  # noqa: E731
        self.assertTrue(eventually(lambda: goes_on(1, 50), 40), told())
        for size in (2, 1, 2):
            host.resize(job, size)
            self.assertTrue(eventually(lambda: at(size), 40), f"{size}: {told()}")
            begin = host.step(job)
            self.assertTrue(eventually(lambda: goes_on(size, begin), 40), f"{size}: {told()}")
        os.kill(pids_of(program, file)[0], signal.SIGKILL)
        self.assertTrue(eventually(lambda: host.events("worker.lost"), 40), told())
        begin = host.step(job)
        self.assertTrue(eventually(lambda: goes_on(2, begin), 40), told())
        for switch in host.events("generation.switched"):
            print({name: switch["data"][name] for name in ("kind", "from_size", "to_size", "stall_ms", "build_ms",
                                                           "bytes_moved", "steps_redone")}, flush=True)
        said = host.output(job)
        self.assertNotIn("the GPU still works on its sums", said)
        self.assertRegex(said, "info: NCCL [0-9.]+ from ")

    def test_trainers_of_several_nodes_grow_shrink_and_survive_over_nccl(self):
        host = self.open_several()
        text = host.show_text("the tide comes in and the tide goes out\n" * 4000)
        self.grows_shrinks_and_survives(
            host, BIN / "tidepool-trainer", text,
            f"charlm --data {text} --steps 10000000 --hidden 1024 --device gpu --batch 512")

    def test_pytorch_workers_of_several_nodes_grow_shrink_and_survive_over_nccl(self):
        if NO_TORCH:
            self.skipTest(NO_TORCH)
        host = self.open_several()
        script = host.show(HERE / "torch_on_gpu.py")
        self.grows_shrinks_and_survives(host, PYTHON, script, f"{script} --steps 10000000",
                                        {"PYTHONPATH": str(SOURCE / "workers/python")})


if __name__ == "__main__":
    result = unittest.main(verbosity=2, exit=False).result
    if not GPUS:
        print("skipped: the driver shows no GPU")
        sys.exit(77)
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
