"""The Python package with one worker and no daemon: the loop gives what plain PyTorch gives, and says what is wrong."""

import copy
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(os.environ["TIDEPOOL_SOURCE_DIR"])
PACKAGE = SOURCE / "workers/python"
sys.path.insert(0, str(PACKAGE))

try:
    import torch
    from torch.utils.data import TensorDataset
    MISSING = None
except ImportError as error:
    MISSING = f"{sys.executable} cannot import torch ({error}); tools/install-packages --checks installs Debian's"
    print("skipped:", MISSING)
    sys.exit(77)

import tidepool as tp  # noqa: E402
from tidepool import _library, _optimizer_state, _replica  # noqa: E402
from tidepool._loader import parts_of  # noqa: E402


def make_model(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))


def make_data(count=50, seed=1):
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(count, 6, generator=generator)
    return inputs, inputs[:, :3].argmax(dim=1)


def loss_of(model, x, y):
    return torch.nn.functional.cross_entropy(model(x), y)


def wrapped(make_optimizer=lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), **settings):
    model = make_model()
    optimizer = make_optimizer(model)
    job = tp.init(**settings)
    job.wrap(model, optimizer)
    return job, model, optimizer


def one_step(optimizer, model, batch):
    loss = loss_of(model, *batch)
    loss.backward()
    optimizer.step()


class TrainingTest(unittest.TestCase):
    def plain(self, batches, make_optimizer=lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)):
        """The parameters after an ordinary loop over the same batches."""
        model = make_model()
        optimizer = make_optimizer(model)
        for x, y in batches:
            optimizer.zero_grad()
            one_step(optimizer, model, (x, y))
        return list(model.parameters())

    def assert_same(self, model, expected):
        for ours, theirs in zip(model.parameters(), expected):
            torch.testing.assert_close(ours, theirs, rtol=2e-5, atol=2e-6)

    def test_the_loop_gives_what_plain_pytorch_gives(self):
        job, model, optimizer = wrapped()
        batches = []
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=16, epochs=3):
            batches.append((x.clone(), y.clone()))
            optimizer.zero_grad()
            one_step(optimizer, model, (x, y))
        self.assertEqual([len(x) for x, _ in batches], [16, 16, 16, 2] * 3)
        self.assertTrue(job.finished)
        self.assertEqual(job.step, 12)
        self.assert_same(model, self.plain(batches))

    def test_micro_batches_sum_to_the_whole_batch_whoever_zeroes_the_gradients(self):
        for zero in ("never", "before", "none", "after", "model"):
            with self.subTest(zero=zero):
                job, model, optimizer = wrapped()
                scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
                job.register("scheduler", scheduler)
                steps, parts, rates = [], [], []
                for x, y in job.loader(TensorDataset(*make_data()), batch_size=25, micro_batch=9, steps=4):
                    if job.step == len(steps):
                        steps.append(([], []))
                        rates.append(optimizer.param_groups[0]["lr"])
                    steps[-1][0].append(x)
                    steps[-1][1].append(y)
                    parts.append(len(x))
                    if zero == "before":
                        optimizer.zero_grad()
                    elif zero == "none":
                        optimizer.zero_grad(set_to_none=True)
                        for parameter in model.parameters():
                            parameter.grad = None
                    elif zero == "model":
                        model.zero_grad()
                    one_step(optimizer, model, (x, y))
                    scheduler.step()
                    if zero == "after":
                        optimizer.zero_grad()
                self.assertEqual(parts, [8, 8, 9] * 4)
                self.assertEqual(rates, [0.1, 0.05, 0.025, 0.0125], "a scheduler steps once a step")
                reference = make_model()
                plain = torch.optim.SGD(reference.parameters(), lr=0.1, momentum=0.9)
                for (xs, ys), rate in zip(steps, rates):
                    plain.param_groups[0]["lr"] = rate
                    plain.zero_grad()
                    one_step(plain, reference, (torch.cat(xs), torch.cat(ys)))
                self.assert_same(model, list(reference.parameters()))

    def test_between_backward_and_step_the_gradients_are_the_batchs_mean(self):
        job, model, optimizer = wrapped(bucket_mb=0.0001)  # several buckets
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=10, steps=2):
            twin = copy.deepcopy(model)
            loss_of(twin, x, y).backward()
            loss_of(model, x, y).backward()
            for ours, theirs in zip(model.parameters(), twin.parameters()):
                torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-5, atol=1e-7)
            optimizer.step()

    def test_a_sum_for_a_loss_is_the_same_training(self):
        models = []
        for kind in ("mean", "sum"):
            job, model, optimizer = wrapped(loss=kind)
            for x, y in job.loader(TensorDataset(*make_data()), batch_size=10, micro_batch=4, epochs=1):
                loss = torch.nn.functional.cross_entropy(model(x), y, reduction=kind)
                job.report(loss=loss)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            models.append((model, job.mean_loss))
        self.assert_same(models[0][0], list(models[1][0].parameters()))
        self.assertAlmostEqual(models[0][1], models[1][1], places=5)

    def test_no_sync_gathers_several_losses(self):
        job, model, optimizer = wrapped()
        batches = []
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=10, steps=3):
            batches.append((x, y))
            with job.no_sync():
                loss_of(model, x, y).backward()
            loss_of(model, x, y).backward()
            optimizer.step()
        doubled = make_model()
        plain = torch.optim.SGD(doubled.parameters(), lr=0.1, momentum=0.9)
        for x, y in batches:
            plain.zero_grad()
            (2 * loss_of(doubled, x, y)).backward()
            plain.step()
        self.assert_same(model, list(doubled.parameters()))

    def test_a_closure_is_called_once(self):
        job, model, optimizer = wrapped()
        batches, losses = [], []
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=10, steps=3):
            def closure(x=x, y=y):
                optimizer.zero_grad()
                loss = loss_of(model, x, y)
                loss.backward()
                return loss
            batches.append((x, y))
            losses.append(optimizer.step(closure))
        self.assertEqual(len(losses), 3)
        self.assert_same(model, self.plain(batches))

    def test_a_parameter_outside_the_loss_stays(self):
        model = torch.nn.ModuleDict({"used": torch.nn.Linear(6, 3), "unused": torch.nn.Linear(6, 3)})
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        job = tp.init(bucket_mb=0.00001)
        job.wrap(model, optimizer)
        before = model["unused"].weight.clone(), model["used"].weight.clone()
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=10, epochs=1):
            one_step(optimizer, model["used"], (x, y))
        self.assertTrue(torch.equal(model["unused"].weight, before[0]))
        self.assertFalse(torch.equal(model["used"].weight, before[1]))

    def test_sparse_gradients_are_summed_as_dense_ones(self):
        weights = []
        for sparse in (True, False):
            torch.manual_seed(0)
            model = torch.nn.Embedding(50, 3, sparse=sparse)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            job = tp.init()
            job.wrap(model, optimizer)
            for x, y in job.loader(TensorDataset(torch.arange(50), make_data()[1]), batch_size=10, epochs=2):
                if job.step % 2 == 0:
                    model.weight.grad = None
                one_step(optimizer, model, (x, y))
            weights.append(model.weight)
        self.assertTrue(torch.equal(*weights))

    def test_skip_step_uses_the_samples_and_leaves_the_parameters(self):
        job, model, optimizer = wrapped()
        before = [p.clone() for p in model.parameters()]
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=10, epochs=1):
            loss_of(model, x, y).backward()
            job.skip_step()
        self.assertEqual(job.step, 5)
        self.assert_same(model, before)

    def test_the_loss_that_is_reported_is_the_mean_over_the_samples(self):
        job, model, optimizer = wrapped()
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=25, micro_batch=9, steps=1):
            job.report(loss=float(len(x)))  # 8, 8, 9
            one_step(optimizer, model, (x, y))
        self.assertAlmostEqual(job.mean_loss, (8 * 8 + 8 * 8 + 9 * 9) / 25, places=5)


class DataTest(unittest.TestCase):
    def order(self, seed, batch_size, epochs=2):
        job, model, optimizer = wrapped(seed=seed)
        inputs, labels = make_data()
        numbers = torch.arange(50)
        seen = []
        for x, y, n in job.loader(TensorDataset(inputs, labels, numbers), batch_size=batch_size, epochs=epochs):
            seen += n.tolist()
            one_step(optimizer, model, (x, y))
        return seen

    def test_each_sample_is_used_once_an_epoch_in_an_order_that_the_seed_alone_decides(self):
        seen = self.order(seed=5, batch_size=16)
        self.assertEqual(sorted(seen[:50]), list(range(50)))
        self.assertEqual(sorted(seen[50:]), list(range(50)))
        self.assertNotEqual(seen[:50], seen[50:])
        self.assertEqual(seen, self.order(seed=5, batch_size=7))
        self.assertNotEqual(seen, self.order(seed=6, batch_size=16))

    def test_epochs_end_the_loop_over_the_loader_and_what_follows_belongs_to_the_epoch(self):
        job, model, optimizer = wrapped()
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        job.register("scheduler", scheduler)
        loader = job.loader(TensorDataset(*make_data()), batch_size=20)
        rates = []
        for epoch in job.epochs(3):
            self.assertEqual(epoch, len(rates))
            samples = 0
            for x, y in loader:
                samples += len(x)
                one_step(optimizer, model, (x, y))
            self.assertEqual(samples, 50)
            rates.append(optimizer.param_groups[0]["lr"])
            scheduler.step()
        self.assertEqual(rates, [0.1, 0.05, 0.025])
        self.assertTrue(job.finished)

    def test_finish_ends_the_loop(self):
        job, model, optimizer = wrapped()
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=10, epochs=100):
            one_step(optimizer, model, (x, y))
            if job.step == 7:
                job.finish()
        self.assertEqual((job.step, job.finished), (7, True))

    def test_a_dataset_of_any_kind_is_read_by_number(self):
        class Squares(torch.utils.data.Dataset):
            def __len__(self):
                return 10

            def __getitem__(self, index):
                return {"x": torch.full((6,), float(index)), "y": index % 3}

        job, model, optimizer = wrapped()
        seen = []
        for batch in job.loader(Squares(), batch_size=4, epochs=1, num_threads=2):
            seen += batch["x"][:, 0].int().tolist()
            one_step(optimizer, model, (batch["x"], batch["y"]))
        self.assertEqual(sorted(seen), list(range(10)))

    def test_a_share_is_cut_into_nearly_equal_parts(self):
        self.assertEqual([len(part) for part in parts_of(list(range(25)), 9)], [8, 8, 9])
        self.assertEqual(parts_of([], 9), [[]])
        self.assertEqual(parts_of([1, 2], None), [[1, 2]])


class OptimizerTest(unittest.TestCase):
    KINDS = {
        "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
        "SGD without momentum": lambda p: torch.optim.SGD(p, lr=0.1),
        "Adam": lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=0.1, amsgrad=True),
        "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01),
        "Adamax": lambda p: torch.optim.Adamax(p, lr=0.01),
        "NAdam": lambda p: torch.optim.NAdam(p, lr=0.01),
        "RAdam": lambda p: torch.optim.RAdam(p, lr=0.01),
        "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.9, centered=True),
        "Adadelta": lambda p: torch.optim.Adadelta(p),
        "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1, initial_accumulator_value=0.1),
        "ASGD": lambda p: torch.optim.ASGD(p, lr=0.1, t0=2),
        "Rprop": lambda p: torch.optim.Rprop(p, lr=0.01),
    }

    def train(self, make, ahead, steps=4):
        model = make_model()
        optimizer = make(model.parameters())
        if ahead:
            _optimizer_state.make_state(optimizer)
        x, y = make_data()
        for _ in range(steps):
            optimizer.zero_grad()
            loss_of(model, x, y).backward()
            optimizer.step()
        return [p.detach().clone() for p in model.parameters()]

    def test_state_made_ahead_changes_no_bit_of_the_training(self):
        for name, make in self.KINDS.items():
            with self.subTest(optimizer=name):
                for ours, theirs in zip(self.train(make, True), self.train(make, False)):
                    self.assertTrue(torch.equal(ours, theirs))

    def test_the_state_stays_where_it_was_registered(self):
        for name, make in self.KINDS.items():
            with self.subTest(optimizer=name):
                job, model, optimizer = wrapped(lambda model, make=make: make(model.parameters()))
                for batch in job.loader(TensorDataset(*make_data()), batch_size=10, steps=5):
                    one_step(optimizer, model, batch)  # raises if a tensor was replaced
                self.assertTrue(job.finished)

    def test_a_state_that_is_not_zero_at_first_is_refused(self):
        class Odd(torch.optim.SGD):
            def step(self, closure=None):
                for parameter in self.param_groups[0]["params"]:
                    self.state[parameter]["trace"] = torch.ones_like(parameter)

        with self.assertRaisesRegex(TypeError, "trace.*load_state_dict"):
            wrapped(lambda model: Odd(model.parameters(), lr=0.1))

    def test_a_state_loaded_before_is_kept(self):
        model = make_model()
        optimizer = torch.optim.Adam(model.parameters())
        x, y = make_data()
        loss_of(model, x, y).backward()
        optimizer.step()
        before = copy.deepcopy(optimizer.state_dict())
        _optimizer_state.make_state(optimizer)
        self.assertEqual(str(before), str(optimizer.state_dict()))


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

    def test_calls_out_of_order_are_told_so(self):
        job, model, optimizer = wrapped()
        self.assert_says(RuntimeError, "called once", job.wrap, model, optimizer)
        self.assert_says(RuntimeError, "belongs into the loop", optimizer.step)
        self.assert_says(RuntimeError, "make the loader before", lambda: next(job.epochs(1)))
        dataset = TensorDataset(*make_data())
        loader = job.loader(dataset, batch_size=10)
        self.assertIs(job.loader(dataset, batch_size=10), loader)
        self.assert_says(RuntimeError, "one loader", job.loader, [1, 2, 3], 1)
        for batch in loader:
            one_step(optimizer, model, batch)
            self.assert_says(RuntimeError, "before the first batch", job.register, "more", torch.zeros(1))
        self.assert_says(RuntimeError, r"for epoch in job.epochs", lambda: next(iter(loader)))
        self.assert_says(RuntimeError, "belongs into the loop", optimizer.step)

    def test_what_cannot_be_trained_is_refused(self):
        sgd = lambda module: torch.optim.SGD(module.parameters(), lr=0.1)  # noqa: E731
        double = make_model().double()
        self.assert_says(TypeError, r"float64.*model.float\(\)", tp.init().wrap, double, sgd(double))
        self.assert_says(ValueError, "does not belong to the model", tp.init().wrap, make_model(), sgd(make_model()))
        model = make_model()
        self.assert_says(TypeError, "needs the optimizer", tp.init().wrap, model)
        self.assert_says(TypeError, "LBFGS", tp.init().wrap, model, torch.optim.LBFGS(model.parameters()))
        frozen = make_model().requires_grad_(False)
        self.assert_says(ValueError, "no parameter to train", tp.init().wrap, frozen, sgd(frozen))

    def test_wrong_settings_are_told(self):
        self.assert_says(ValueError, '"mean" or "sum"', tp.init, loss="max")
        job, model, optimizer = wrapped()
        dataset = TensorDataset(*make_data())
        self.assert_says(ValueError, "batch_size is needed", job.loader, dataset)
        self.assert_says(ValueError, "batch_size is 0", job.loader, dataset, 0)
        self.assert_says(ValueError, "not both", job.loader, dataset, 5, epochs=1, steps=1)
        self.assert_says(TypeError, "__getitem__", job.loader, iter([1]), 5)
        self.assert_says(ValueError, "empty", job.loader, [], 5)

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

    def test_a_replaced_parameter_is_noticed(self):
        job, model, optimizer = wrapped()
        with self.assertRaisesRegex(RuntimeError, r"0.weight.*replaced.*copy_\(\)"):
            for batch in job.loader(TensorDataset(*make_data()), batch_size=10):
                one_step(optimizer, model, batch)
                model[0].weight.data = model[0].weight.data.clone()


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

        tensor = torch.arange(6.0)
        piece, = _replica.piece_of("tensor", tensor)
        self.assertEqual((piece.address, piece.length), (tensor.data_ptr(), 24))
        array = tensor.numpy()
        piece, = _replica.piece_of("array", array)
        self.assertEqual((piece.address, piece.length), (array.ctypes.data, 24))

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
