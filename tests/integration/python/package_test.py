"""What the Python package says to mistakes, what state it takes, how it finds its library, and what its wheel holds."""

import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

from small_training import PACKAGE, SOURCE, loss_of, make_data, make_model, make_sgd, one_step, wrapped

import numpy
import torch
import torch.utils.checkpoint
from torch.utils.data import TensorDataset

import tidepool as tp
from tidepool import _library, _replica


class MistakesTest(unittest.TestCase):
    def loop(self, body, batch_size=10, **settings):
        job, model, optimizer = wrapped(**settings)
        for batch in job.loader(TensorDataset(*make_data()), batch_size=batch_size, epochs=1):
            body(job, model, optimizer, batch)

    def assert_says(self, kind, words, call, *arguments, **named):
        with self.assertRaisesRegex(kind, words):
            call(*arguments, **named)

    def test_a_loop_that_forgets_a_part_is_told_which(self):
        self.assert_says(RuntimeError, r"each batch ends in opt.step\(\)", self.loop, lambda *_: None)
        self.assert_says(RuntimeError, r"opt.step\(\) is missing", self.loop,
                         lambda job, model, optimizer, batch: loss_of(model, *batch).backward())

        def twice(job, model, optimizer, batch):
            loss_of(model, *batch).backward()
            loss_of(model, *batch).backward()
        self.assert_says(RuntimeError, "second backward.*no_sync", self.loop, twice)

    def test_a_backward_inside_another_is_told_what_to_do(self):
        def once(job, model, optimizer, batch):
            hidden = torch.utils.checkpoint.checkpoint(model, batch[0].requires_grad_(), use_reentrant=True)
            torch.nn.functional.cross_entropy(hidden, batch[1]).backward()
            optimizer.step()
        self.assert_says(RuntimeError, "inside another.*use_reentrant=False", self.loop, once)

        def tied(job, model, optimizer, batch):  # a gradient of the outer one comes first, and twice
            again = torch.utils.checkpoint.checkpoint(lambda x: x @ model[2].weight.T @ model[2].weight,
                                                      model[:2](batch[0]), use_reentrant=True)
            torch.nn.functional.cross_entropy(model[2](again), batch[1]).backward()
            optimizer.step()
        self.assert_says(RuntimeError, "inside another.*use_reentrant=False", self.loop, tied)

    def test_calls_out_of_order_are_told_so(self):
        job, model, optimizer = wrapped()
        self.assert_says(RuntimeError, "called once", job.wrap, model, optimizer)
        self.assert_says(RuntimeError, "belongs into the loop", optimizer.step)
        self.assert_says(RuntimeError, "make the loader before", lambda: next(job.epochs(1)))
        dataset = TensorDataset(*make_data())
        loader = job.loader(dataset, batch_size=10)
        self.assertIs(job.loader(dataset, batch_size=10), loader)
        self.assertIs(job.loader(dataset, epochs=1), loader)
        self.assert_says(RuntimeError, "made with batch_size=10, which cannot become 20", job.loader, dataset, 20)
        self.assert_says(RuntimeError, "made with steps=None, which cannot become 5", job.loader, dataset, steps=5)
        self.assert_says(RuntimeError, "one loader", job.loader, [1, 2, 3], 1)
        for batch in loader:
            one_step(optimizer, model, batch)
            self.assert_says(RuntimeError, "before the first batch", job.register, "more", torch.zeros(1))
        self.assert_says(RuntimeError, r"for epoch in job.epochs", lambda: next(iter(loader)))
        self.assert_says(RuntimeError, "belongs into the loop", optimizer.step)

    def test_a_worker_has_one_job(self):
        def begin():
            job, model, optimizer = wrapped()
            for batch in job.loader(TensorDataset(*make_data()), batch_size=50):
                one_step(optimizer, model, batch)
        begin()
        begin()  # alone there may be several, one after the other
        with unittest.mock.patch.dict(os.environ, {"TIDEPOOL_AGENT_SOCKET": "/nowhere"}):
            self.assert_says(RuntimeError, r"another tp.init\(\) has begun.*one module that holds all models", begin)

    def test_a_closed_job_is_told_so(self):
        def close(job, model, optimizer, batch):
            one_step(optimizer, model, batch)
            job.close()
        self.assert_says(RuntimeError, r"the job was closed: job.close\(\) comes after the loop", self.loop, close)

        def close_before_step(job, model, optimizer, batch):
            job.close()
            one_step(optimizer, model, batch)
        self.assert_says(RuntimeError, "belongs into the loop", self.loop, close_before_step)

    def test_a_turn_of_the_loop_over_epochs_without_a_batch_is_told(self):
        job, _, _ = wrapped()
        job.loader(TensorDataset(*make_data()), batch_size=10)
        epochs = job.epochs(3)
        self.assertEqual(next(epochs), 0)
        self.assert_says(RuntimeError, "took no batch.*for batch in loader.*`continue`", next, epochs)

    def test_a_second_loop_after_the_jobs_end_is_told(self):
        job, model, optimizer = wrapped()
        loader = job.loader(TensorDataset(*make_data()), batch_size=50)
        for _ in job.epochs(2):
            for batch in loader:
                one_step(optimizer, model, batch)
        self.assertEqual((job.finished, job.step), (True, 2))
        self.assert_says(RuntimeError, "at its end.*one loop over job.epochs.*the number of all epochs", next,
                         job.epochs(5))

    def test_what_cannot_be_trained_is_refused(self):
        double = make_model().double()
        self.assert_says(TypeError, r"float64.*model.float\(\)", tp.init().wrap, double, make_sgd(double))
        self.assert_says(ValueError, "does not belong to the model", tp.init().wrap, make_model(),
                         make_sgd(make_model()))
        model = make_model()
        self.assert_says(TypeError, "needs the optimizer", tp.init().wrap, model)
        optimizer = make_sgd(model)
        self.assert_says(TypeError, "model first", tp.init().wrap, optimizer, model)
        self.assert_says(TypeError, "one by one, not in a list", tp.init().wrap, model, [optimizer])
        self.assert_says(TypeError, "given a int as an optimizer", tp.init().wrap, model, 3)
        self.assert_says(TypeError, "is a str; it must be the model", tp.init().wrap, "model", optimizer)
        self.assert_says(TypeError, "LBFGS", tp.init().wrap, model, torch.optim.LBFGS(model.parameters()))
        frozen = make_model().requires_grad_(False)
        self.assert_says(ValueError, "no parameter to train", tp.init().wrap, frozen, make_sgd(frozen))
        job, model, _ = wrapped()
        model.requires_grad_(False)
        self.assert_says(ValueError, "frozen after job.wrap", list, job.loader(TensorDataset(*make_data()), 5))

    def test_training_another_model_than_the_wrapped_one_is_noticed(self):
        other = make_model()
        self.assert_says(RuntimeError, r"no gradient has reached the model that was given to job.wrap\(\)", self.loop,
                         lambda job, model, optimizer, batch: one_step(optimizer, other, batch))

    def test_wrong_settings_are_told(self):
        self.assert_says(ValueError, '"mean" or "sum"', tp.init, loss="max")
        job, model, optimizer = wrapped()
        dataset = TensorDataset(*make_data())
        self.assert_says(ValueError, "batch_size is needed", job.loader, dataset)
        self.assert_says(ValueError, "batch_size is 0", job.loader, dataset, 0)
        self.assert_says(ValueError, "not both", job.loader, dataset, 5, epochs=1, steps=1)
        self.assert_says(TypeError, "batch_size is '32', a str; it must be a whole number", job.loader, dataset, "32")
        self.assert_says(TypeError, "batch_size is 3.5, a float", job.loader, dataset, 3.5)
        self.assert_says(TypeError, "epochs is 1.5", job.loader, dataset, 5, epochs=1.5)
        self.assert_says(TypeError, "num_threads is 'all'", job.loader, dataset, 5, num_threads="all")
        self.assert_says(TypeError, "seed is 'x', a str", tp.init, seed="x")
        self.assert_says(TypeError, "bucket_mb is 'x'", tp.init, bucket_mb="x")
        self.assert_says(ValueError, "noise_every is -1", tp.init, noise_every=-1)
        self.assert_says(TypeError, "takes the loss alone.*write acc to", job.report, loss=1.0, acc=0.5)
        self.assert_says(TypeError, "loss as one number", job.report, torch.zeros(2))
        self.assert_says(TypeError, "__getitem__", job.loader, iter([1]), 5)

        class Stream(torch.utils.data.IterableDataset):
            def __len__(self):
                return 50
        self.assert_says(TypeError, r"IterableDataset.*make it a Dataset with __len__\(\)", job.loader, Stream(), 5)
        batches = torch.utils.data.DataLoader(torch.zeros(50, 2), batch_size=5)
        self.assert_says(TypeError, "DataLoader.*give job.loader.. its dataset", job.loader, batches, 5)
        self.assert_says(ValueError, "empty", job.loader, [], 5)
        self.assert_says(TypeError, "a name first.*given a Tensor", job.register, torch.zeros(1), "average")
        loader = job.loader(dataset, 5)
        self.assertTrue(loader)
        self.assert_says(TypeError, r"steps while the batch .*job.step", len, loader)

    def test_a_function_that_could_not_be_called_is_refused_when_it_is_given(self):
        job, model, optimizer = wrapped()
        for give in (job.on_resize, job.on_notice, job.batch_rule,
                     lambda function: job.loader(TensorDataset(*make_data()), 5, collate_fn=function)):
            self.assert_says(TypeError, "takes a function, and was given 3, a int", give, 3)
            self.assert_says(TypeError, "called with one argument, .*: too many positional", give, lambda: None)
            self.assert_says(TypeError, "called with one argument, .*: missing a required", give, lambda a, b: None)
        job.on_resize(print)
        job.on_resize(lambda change, seen=None: None)

    def test_a_loop_says_how_long_it_is(self):
        told = []
        opened = tp._abi.Session.__init__

        def note(session, options, rule=None):
            told.append((options.steps, options.work_samples))
            opened(session, options, rule)
        with unittest.mock.patch.object(tp._abi.Session, "__init__", note):
            for length in ({}, {"epochs": 2}, {"steps": 3}):
                job, model, optimizer = wrapped()
                for batch in job.loader(TensorDataset(*make_data()), batch_size=10, **length):
                    one_step(optimizer, model, batch)
            job, model, optimizer = wrapped()
            loader = job.loader(TensorDataset(*make_data()), batch_size=10)
            for _ in job.epochs(3):
                for batch in loader:
                    one_step(optimizer, model, batch)
        self.assertEqual(told, [(0, 50), (0, 100), (3, 0), (0, 150)])

    def test_an_unfrozen_parameter_is_noticed(self):
        model = make_model()
        model[0].requires_grad_(False)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        job = tp.init()
        job.wrap(model, optimizer)
        with self.assertRaisesRegex(RuntimeError, "unfrozen"):
            for batch in job.loader(TensorDataset(*make_data()), batch_size=10):
                model[0].requires_grad_(True)
                one_step(optimizer, model, batch)

    def test_a_parameter_unfrozen_before_the_loop_is_checked_like_the_others(self):
        model = make_model()
        model[0].double().requires_grad_(False)
        job = tp.init()
        job.wrap(model, make_sgd(model))
        model[0].requires_grad_(True)
        self.assert_says(TypeError, r'"0.weight" is torch.float64', list, job.loader(TensorDataset(*make_data()), 5))

    def test_a_parameter_that_is_new_after_wrap_is_refused(self):
        job, model, _ = wrapped()
        model.add_module("more", torch.nn.Linear(3, 3))
        self.assert_says(ValueError, r"added or replaced after job.wrap\(\)", list,
                         job.loader(TensorDataset(*make_data()), 5))

    def test_an_optimizers_state_that_is_new_inside_the_loop_is_noticed(self):
        model = make_model()
        optimizer = torch.optim.SGD(model[2].parameters(), lr=0.1, momentum=0.9)
        job = tp.init()
        job.wrap(model, optimizer)
        with self.assertRaisesRegex(RuntimeError, r'"optimizer0" has state.*add_param_group\(\).*before the loop'):
            for batch in job.loader(TensorDataset(*make_data()), batch_size=10):
                if job.step == 2:
                    optimizer.add_param_group({"params": model[0].parameters()})
                one_step(optimizer, model, batch)

    def test_a_replaced_parameter_is_noticed(self):
        job, model, optimizer = wrapped()
        with self.assertRaisesRegex(RuntimeError, r"0.weight.*replaced.*copy_\(\)"):
            for batch in job.loader(TensorDataset(*make_data()), batch_size=10):
                one_step(optimizer, model, batch)
                model[0].weight.data = model[0].weight.data.clone()

    def test_an_optimizers_state_loaded_inside_the_loop_is_noticed(self):
        job, model, optimizer = wrapped()
        with self.assertRaisesRegex(RuntimeError, r"momentum_buffer.*replaced.*load_state_dict\(\).*before the loop"):
            for batch in job.loader(TensorDataset(*make_data()), batch_size=10):
                one_step(optimizer, model, batch)
                optimizer.load_state_dict(optimizer.state_dict())


class BatchRuleTest(unittest.TestCase):
    def loop(self, rule):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        document = pathlib.Path(folder.name) / "job.json"
        document.write_text('{"batch": {"global": 10, "per_worker_max": 10, "on_resize": "callback"}}')
        with unittest.mock.patch.dict(os.environ, {"TIDEPOOL_JOB_FILE": str(document)}):
            job, model, optimizer = wrapped()
        if rule is not None:
            job.batch_rule(rule)
        sizes = []
        for batch in job.loader(TensorDataset(*make_data()), micro_batch=50, epochs=1):
            sizes.append(len(batch[0]))
            one_step(optimizer, model, batch)
        return sizes

    def test_the_programs_own_rule_says_the_batch(self):
        asked = []
        self.assertEqual(self.loop(lambda question: asked.append(question) or (20, 1.0)), [20, 20, 10])
        self.assertEqual(asked, [tp.BatchQuestion(size=1, step=0, noise_scale=None, batch_size=0, lr_factor=1.0)])

    def test_a_rule_that_is_missing_or_fails_is_told(self):
        with self.assertRaisesRegex(tp.TidepoolError, "on_resize is callback"):
            self.loop(None)
        with self.assertRaises(ZeroDivisionError):
            self.loop(lambda question: (1 // 0, 1.0))


class RegisterTest(unittest.TestCase):
    def test_every_kind_of_state_is_taken(self):
        class Counter:
            value = 1

            def state_dict(self):
                return {"value": self.value}

            def load_state_dict(self, state):
                self.value = state["value"]

        counter = Counter()
        piece, = _replica.piece_of("counter", counter)
        counter.value = 7
        piece.restore()
        self.assertEqual(counter.value, 1)
        counter.value = 8
        piece.save()
        counter.value = 9
        piece.restore()
        self.assertEqual(counter.value, 8)

        generator = torch.Generator().manual_seed(4)
        piece, = _replica.piece_of("generator", generator)
        first = torch.rand(3, generator=generator)
        piece.restore()
        self.assertTrue(torch.equal(first, torch.rand(3, generator=generator)))

        piece, = _replica.piece_of("random", (torch.get_rng_state, torch.set_rng_state))
        first = torch.rand(3)
        piece.restore()
        self.assertTrue(torch.equal(first, torch.rand(3)))

        for tensor in (torch.arange(6.0), torch.arange(6.0, requires_grad=True)):
            for name, value in (("tensor", tensor), ("array", tensor.detach().numpy())):
                piece, = _replica.piece_of(name, value)
                self.assertEqual((ctypes.c_float * 6).from_address(piece.address)[:], [0, 1, 2, 3, 4, 5])
                tensor.detach().add_(1)
                piece.save()
                self.assertEqual((ctypes.c_float * 6).from_address(piece.address)[:], [1, 2, 3, 4, 5, 6])
                tensor.detach().zero_()
                piece.restore()
                self.assertEqual((tensor.tolist(), piece.length), ([1, 2, 3, 4, 5, 6], 24))
                tensor.detach().sub_(1)

        norm = torch.nn.BatchNorm1d(3)
        pieces = _replica.piece_of("norm", norm)
        names = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
        self.assertEqual([piece.name for piece in pieces], ["norm." + name for name in names])
        norm(torch.randn(4, 3))
        for piece in pieces:
            piece.restore()
        self.assertEqual(norm.num_batches_tracked, 0)
        self.assertTrue(torch.equal(norm.running_var, torch.ones(3)))

    def test_what_does_not_fit_is_refused(self):
        with self.assertRaisesRegex(TypeError, "register a tensor, an array"):
            _replica.piece_of("thing", object())
        with self.assertRaisesRegex(TypeError, "contiguous"):
            _replica.piece_of("slice", torch.zeros(4, 4)[:, 1])
        state = {"text": ""}
        piece, = _replica.piece_of("text", (lambda: state, state.update), capacity=100)
        state["text"] = "x" * 200
        with self.assertRaisesRegex(RuntimeError, '"text".*larger capacity'):
            piece.save()
        job, _, _ = wrapped()
        job.register("a", torch.zeros(1))
        with self.assertRaisesRegex(ValueError, '"a" is registered already'):
            job.register("a", torch.zeros(1))

    def test_an_array_of_objects_is_refused_and_one_of_records_is_taken(self):
        for dtype in (object, [("n", "f4"), ("thing", "O")]):
            with self.assertRaisesRegex(TypeError, '"array" holds Python objects.*dtype of numbers'):
                _replica.piece_of("array", numpy.zeros(3, dtype))
        piece, = _replica.piece_of("array", numpy.zeros(3, [("Old", "f4"), ("New", "i8")]))
        self.assertEqual(piece.length, 36)

    def test_a_registered_buffer_keeps_its_size(self):
        buffer = bytearray(b"abc")
        piece, = _replica.piece_of("buffer", buffer)
        with self.assertRaises(BufferError):
            buffer.extend(b"defg")
        buffer[:] = b"xyz"
        piece.restore()
        self.assertEqual(buffer, b"abc")

    def test_a_tensor_elsewhere_is_refused_with_advice(self):
        with self.assertRaisesRegex(TypeError, r'"tensor" lies on meta.*model.to\("cpu"\)'):
            _replica.piece_of("tensor", torch.zeros(3, device="meta"))


class ProcessTest(unittest.TestCase):
    """What only another process can show."""

    SCRIPT = """
import sys, torch, tidepool as tp
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
job = tp.init()
model, optimizer = job.wrap(model, optimizer)
data = torch.utils.data.TensorDataset(torch.randn(40, 4), torch.zeros(40).long())
for x, y in job.loader(data, batch_size=8, steps=int(sys.argv[1])):
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    print("step", job.step, flush=True)
print("ended", job.finished, tp.__file__)
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, steps, package=PACKAGE, **environment):
        variables = {**os.environ, "PYTHONPATH": str(package), **environment}
        return subprocess.run([sys.executable, "-B", "-c", self.SCRIPT, str(steps)], capture_output=True, text=True,
                              timeout=120, env={k: v for k, v in variables.items() if v is not None})

    def test_a_script_runs_to_its_end(self):
        done = self.run_script(3)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("step 3\nended True", done.stdout)

    def test_ctrl_c_ends_a_script_as_any_other(self):
        process = subprocess.Popen([sys.executable, "-B", "-c", self.SCRIPT, "100000000"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        self.assertIn("step 1", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("KeyboardInterrupt", errors)
        self.assertNotIn("Sanitizer", errors)

    def test_a_forked_process_that_ends_leaves_the_training_to_its_parent(self):
        watched = """
close = tp._abi.Session.close
tp._abi.Session.close = lambda session: (print("closed", flush=True), close(session))[1]
for x, y"""
        fork = """
    if job.step == 1:
        import os
        child = os.fork()
        if child == 0:
            sys.exit(0)
        print("child", os.waitpid(child, 0)[1], flush=True)
"""
        script = self.SCRIPT.replace("    print(", fork + "    print(").replace("\nfor x, y", watched)
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
        process = subprocess.Popen([sys.executable, "-B", "-c", script, "3"], stdout=subprocess.PIPE, text=True,
                                   env=environment, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.fail("the child did not end")
        self.assertEqual(process.returncode, 0)
        self.assertEqual(output.splitlines()[:5], ["child 0", "step 1", "step 2", "step 3", "closed"])

    def test_a_second_backward_ends_the_script_with_its_traceback(self):
        once = "torch.nn.functional.cross_entropy(model(x), y).backward()"
        for line_after in (once, once + "\n    continue"):
            with self.subTest(line_after):
                script = self.SCRIPT.replace(once, f"{once}\n    {line_after}")
                done = subprocess.run([sys.executable, "-B", "-c", script, "3"], capture_output=True, text=True,
                                      timeout=60, env={**os.environ, "PYTHONPATH": str(PACKAGE)})
                self.assertEqual(done.returncode, 1)
                self.assertIn("Traceback", done.stderr)
                self.assertIn("RuntimeError: a second backward() in one step", done.stderr)

    def test_a_missing_library_is_named_with_what_to_do(self):
        done = self.run_script(1, TIDEPOOL_LIBRARY="/nowhere/libtidepool.so")
        self.assertIn("TIDEPOOL_LIBRARY names /nowhere/libtidepool.so, which does not exist", done.stderr)
        self.assertEqual(done.returncode, 1)
        alone = self.folder / "elsewhere"
        (alone / "tidepool").mkdir(parents=True)
        for path in (PACKAGE / "tidepool").glob("*.py"):
            (alone / "tidepool" / path.name).write_bytes(path.read_bytes())
        done = self.run_script(1, package=alone, TIDEPOOL_LIBRARY=None)
        self.assertIn("libtidepool.so was not found: looked at", done.stderr)
        self.assertIn("set TIDEPOOL_LIBRARY", done.stderr)
        document = alone / "job.json"
        document.write_text("{}")
        done = self.run_script(1, package=alone, TIDEPOOL_LIBRARY=None, TIDEPOOL_JOB_FILE=str(document))
        self.assertIn("PYTHONPATH under env of the job file", done.stderr)
        self.assertNotIn("set TIDEPOOL_LIBRARY", done.stderr)

    def test_a_library_of_something_else_is_refused(self):
        path = self.folder / "libtidepool.so"
        path.write_text("not a library")
        done = self.run_script(1, TIDEPOOL_LIBRARY=str(path))
        self.assertIn("cannot be loaded", done.stderr)

    def test_the_source_trees_release_build_is_looked_at_after_the_packages_own_folder(self):
        before = os.environ.pop("TIDEPOOL_LIBRARY")
        try:
            places = _library.candidates()
        finally:
            os.environ["TIDEPOOL_LIBRARY"] = before
        self.assertEqual(places, [PACKAGE / "tidepool/libtidepool.so", SOURCE / "build/release/lib/libtidepool.so"])
        self.assertEqual(_library.candidates(), [pathlib.Path(before)])

    def test_the_wheel_is_built_offline_and_carries_the_library(self):
        tree = self.folder / "tree"
        (tree / "tidepool").mkdir(parents=True)
        for name in ("pyproject.toml", "setup.py", "README.md"):
            (tree / name).write_bytes((PACKAGE / name).read_bytes())
        for path in (PACKAGE / "tidepool").iterdir():
            if path.is_file():
                (tree / "tidepool" / path.name).write_bytes(path.read_bytes())
        build = "from setuptools import build_meta; print(build_meta.build_wheel('wheels'))"
        built = subprocess.run([sys.executable, "-c", build], cwd=tree, capture_output=True, text=True, timeout=120,
                               env={**os.environ, "LD_PRELOAD": "", "no_proxy": "*"})
        self.assertEqual(built.returncode, 0, built.stderr)
        wheel, = (tree / "wheels").glob("*.whl")
        self.assertRegex(wheel.name, r"^tidepool-[0-9.]+-py3-none-linux_")
        installed = self.folder / "installed"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(installed)
        done = self.run_script(2, package=installed, TIDEPOOL_LIBRARY=None)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"ended True {installed}", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
