"""The Python package with one worker and no daemon: the loop gives what plain PyTorch gives."""

import copy
import dataclasses
import math
import threading
import unittest
import unittest.mock
import warnings

from small_training import loss_of, make_data, make_model, make_sgd, one_step, wrapped

import numpy
import torch
import torch.utils.checkpoint
from torch.utils.data import TensorDataset

import tidepool as tp
from tidepool import _abi
from tidepool._loader import Fetcher, parts_of


class TrainingTest(unittest.TestCase):
    def plain(self, batches):
        """The parameters after an ordinary loop over the same batches."""
        model = make_model()
        optimizer = make_sgd(model)
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

    def test_an_empty_tensor_may_be_registered_and_is_no_state(self):
        job, model, optimizer = wrapped()
        job.register("nothing", torch.empty(0))
        job.register("no_numbers", numpy.zeros(0))
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=16, steps=1):
            optimizer.zero_grad()
            one_step(optimizer, model, (x, y))
        self.assertTrue(job.finished)

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

    def test_a_scheduler_made_before_wrap_does_not_warn_of_a_turn_without_a_step(self):
        model = make_model()
        optimizer = make_sgd(model)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        job = tp.init()
        job.wrap(model, optimizer)
        job.register("scheduler", scheduler)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for x, y in job.loader(TensorDataset(*make_data()), batch_size=25, micro_batch=9, steps=2):
                one_step(optimizer, model, (x, y))
                scheduler.step()
        self.assertEqual(optimizer.param_groups[0]["lr"], 0.025)

    def test_a_turn_without_a_step_changes_other_state_by_its_forward_pass_alone(self):
        class Average:
            def __init__(self):
                self.updates = 0

            def state_dict(self):
                return {"updates": self.updates}

            def load_state_dict(self, state):
                self.updates = state["updates"]

        job, model, optimizer = wrapped()
        average, pair = Average(), {"updates": 0, "batches": 0}
        masks, after = torch.Generator().manual_seed(3), torch.Generator().manual_seed(4)
        job.register("average", average)
        job.register("pair", (lambda: pair, pair.update))
        job.register("masks", masks)
        job.register("after", after)
        drawn = []
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=25, micro_batch=9, steps=4):
            pair["batches"] += 1
            drawn.append(float(torch.rand(1, generator=masks)))
            one_step(optimizer, model, (x, y))
            average.updates += 1
            pair["updates"] += 1
            torch.rand(1, generator=after)
        self.assertEqual(len(set(drawn)), 12, "each micro-batch has a mask of its own")
        self.assertEqual(average.updates, 4)
        self.assertEqual(pair, {"updates": 4, "batches": 12})
        expected = torch.Generator().manual_seed(4)
        for _ in range(4):
            torch.rand(1, generator=expected)
        self.assertTrue(torch.equal(after.get_state(), expected.get_state()))

    def test_between_backward_and_step_the_gradients_are_the_batchs_mean(self):
        job, model, optimizer = wrapped(bucket_mb=0.0001)  # several buckets
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=10, steps=2):
            twin = copy.deepcopy(model)
            loss_of(twin, x, y).backward()
            loss_of(model, x, y).backward()
            for ours, theirs in zip(model.parameters(), twin.parameters()):
                torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-5, atol=1e-7)
            optimizer.step()

    def test_recomputed_activations_give_the_same_training(self):
        # use_reentrant=True calls backward() inside backward(): right as long as a gradient of the outer one is first.
        for reentrant in (False, True):
            with self.subTest(reentrant=reentrant):
                job, model, optimizer = wrapped(bucket_mb=0.0001)
                batches = []
                for x, y in job.loader(TensorDataset(*make_data()), batch_size=16, epochs=2):
                    batches.append((x, y))
                    hidden = torch.utils.checkpoint.checkpoint(model[:2], x.clone().requires_grad_(),
                                                               use_reentrant=reentrant)
                    torch.nn.functional.cross_entropy(model[2](hidden), y).backward()
                    optimizer.step()
                    optimizer.zero_grad()
                self.assert_same(model, self.plain(batches))

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

    def test_buffers_follow_the_forward_passes_and_constants_keep_every_bit(self):
        inner = torch.nn.BatchNorm1d(6)
        model = torch.nn.Sequential(inner, torch.nn.Linear(6, 3))
        constant = torch.tensor([0.1, -float("inf"), 1e-30])
        model.register_buffer("constant", constant.clone())
        model.register_buffer("exact", torch.tensor([0.1], dtype=torch.float64))
        optimizer = make_sgd(model)
        job = tp.init()
        job.wrap(model, optimizer)
        twin = torch.nn.BatchNorm1d(6)
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=10, epochs=2):
            twin(x)
            one_step(optimizer, model, (x, y))
        self.assertTrue(torch.equal(model.constant, constant))
        self.assertEqual(model.exact.item(), 0.1)
        torch.testing.assert_close(inner.running_var, twin.running_var, rtol=1e-5, atol=1e-6)
        self.assertEqual(inner.num_batches_tracked, 10)

    def test_skip_step_uses_the_samples_and_leaves_the_parameters(self):
        job, model, optimizer = wrapped()
        before = [p.clone() for p in model.parameters()]
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=10, epochs=1):
            loss_of(model, x, y).backward()
            job.skip_step()
        self.assertEqual(job.step, 5)
        self.assert_same(model, before)

    def test_a_loss_scaler_that_leaves_out_a_step_trains_as_plain_pytorch_does(self):
        class Scaler:
            """As torch.cuda.amp.GradScaler, which needs a GPU: an overflow halves the scale in the place of a step."""
            scale = 1024.0

            def step(self, optimizer):
                gradients = [p.grad.div_(self.scale) for group in optimizer.param_groups for p in group["params"]]
                self.overflowed = not all(gradient.isfinite().all() for gradient in gradients)
                if not self.overflowed:
                    optimizer.step()

            def update(self):
                self.scale *= 0.5 if self.overflowed else 1.0

            def state_dict(self):
                return {"scale": self.scale}

            def load_state_dict(self, state):
                self.scale = state["scale"]

        job, model, optimizer = wrapped()
        scaler = Scaler()
        job.register("scaler", scaler)
        shares, overflows = [], (1, 4)
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=20, micro_batch=10, steps=6):
            optimizer.zero_grad()
            before = job.step
            (loss_of(model, x, y) * (math.inf if before in overflows else scaler.scale)).backward()
            scaler.step(optimizer)
            if job.step == before:
                job.skip_step()
            scaler.update()
            if before == len(shares):
                shares.append(([], []))
            shares[-1][0].append(x)
            shares[-1][1].append(y)
        self.assertEqual((job.step, scaler.scale), (6, 256.0))
        batches = [(torch.cat(x), torch.cat(y)) for x, y in shares]
        self.assert_same(model, self.plain([batch for at, batch in enumerate(batches) if at not in overflows]))

    def test_the_loss_that_is_reported_is_the_mean_over_the_samples(self):
        job, model, optimizer = wrapped()
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=25, micro_batch=9, steps=1):
            job.report(loss=float(len(x)))  # 8, 8, 9
            one_step(optimizer, model, (x, y))
        self.assertAlmostEqual(job.mean_loss, (8 * 8 + 8 * 8 + 9 * 9) / 25, places=5)

    def test_a_loss_that_is_never_reported_is_no_number_and_one_that_was_stands_until_the_next(self):
        job, model, optimizer = wrapped()
        losses = []
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=10, steps=4):
            if job.step == 2:
                job.report(loss=3.0)
            one_step(optimizer, model, (x, y))
            losses.append(job.mean_loss)
        self.assertTrue(math.isnan(losses[0]) and math.isnan(losses[1]))
        self.assertEqual(losses[2:], [3.0, 3.0])

    def test_a_worker_that_receives_the_state_of_another_knows_the_loss_as_that_one_does(self):
        job, model, optimizer = wrapped()
        steps = iter([2.5, None, 7.0])  # what another's state says as each step begins: on joining, and after a death
        next_step, reduce = _abi.Session.next_step, _abi.Session.reduce

        def receive(session):
            received = next(steps, None)
            if received is not None:
                job._stepper._progress.mean_loss = received
            return next_step(session)

        def lose_the_second(session, loss_sum):
            return None if len(seen) == 3 else reduce(session, loss_sum)

        seen = []
        with unittest.mock.patch.object(_abi.Session, "next_step", receive), \
                unittest.mock.patch.object(_abi.Session, "reduce", lose_the_second):
            for batch in job.loader(TensorDataset(*make_data()), batch_size=10, steps=2):
                seen.append(job.mean_loss)
                job.report(loss=4.0)
                one_step(optimizer, model, batch)
                seen.append(job.mean_loss)
        self.assertEqual(seen, [2.5, 4.0, 4.0, 4.0, 7.0, 4.0])
        self.assertEqual(job.mean_loss, 4.0)


class RepeatedStepTest(unittest.TestCase):
    """What a death elsewhere does to this worker: reduce() says that the step must be done again."""

    def train(self, lost_steps):
        torch.manual_seed(2)
        model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.BatchNorm1d(16), torch.nn.Dropout(0.3),
                                    torch.nn.Linear(16, 3))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        job = tp.init()
        job.wrap(model, optimizer)
        job.register("scheduler", scheduler)
        job.register("random", (torch.get_rng_state, torch.set_rng_state))
        average, turns, twin = torch.zeros(6), numpy.zeros(1), torch.nn.BatchNorm1d(3)
        job.register("average", average)
        job.register("turns", turns)
        job.register("twin", twin)
        lost = set(lost_steps)
        original = _abi.Session.reduce

        def reduce(session, loss_sum):
            if job.step in lost:
                lost.discard(job.step)
                return None
            return original(session, loss_sum)

        seen, rates = [], []
        with unittest.mock.patch.object(_abi.Session, "reduce", reduce):
            for x, y in job.loader(TensorDataset(*make_data()), batch_size=10, micro_batch=6, epochs=2):
                seen.append((job.step, x.sum().item()))
                rates.append(optimizer.param_groups[0]["lr"])
                one_step(optimizer, model, (x, y))
                average.mul_(0.9).add_(model[0].weight[0].detach(), alpha=0.1)
                turns += 1
                with torch.no_grad():
                    twin.weight.add_(1)
                    twin.num_batches_tracked.add_(1)
                scheduler.step()
                optimizer.zero_grad()
        self.assertEqual(lost, set())
        changes = turns[0], twin.num_batches_tracked.item(), twin.weight[0].item() - 1
        self.assertEqual(changes, (job.step,) * 3, "one change a step")
        return [*model.state_dict().values(), average, *twin.state_dict().values()], seen, rates

    def test_it_changes_nothing_and_gets_the_same_samples(self):
        state, seen, rates = self.train([])
        state_after, seen_again, rates_again = self.train([0, 3, 4, 9])
        self.assertEqual(len(seen_again), len(seen) + 4 * 2)
        self.assertEqual(sorted(set(seen_again)), sorted(set(seen)))
        self.assertEqual(sorted(set(rates_again)), sorted(set(rates)))
        for one, other in zip(state, state_after):
            self.assertTrue(torch.equal(one, other))

    def test_the_runtimes_factor_scales_the_learning_rate_of_its_step_alone(self):
        def moved(factor):
            job, model, optimizer = wrapped(lambda model: torch.optim.SGD(model.parameters(), lr=0.1))
            original = _abi.Session.next_step

            def next_step(session):
                result, step = original(session)
                return result, step and dataclasses.replace(step, lr_factor=factor)

            begin = model[0].weight.detach().clone()
            with unittest.mock.patch.object(_abi.Session, "next_step", next_step):
                for batch in job.loader(TensorDataset(*make_data()), batch_size=50, steps=1):
                    one_step(optimizer, model, batch)
            self.assertEqual(optimizer.param_groups[0]["lr"], 0.1)
            return model[0].weight.detach() - begin

        torch.testing.assert_close(moved(2.5), 2.5 * moved(1.0), rtol=1e-4, atol=1e-6)


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

    def test_finish_at_a_micro_batch_that_does_not_end_its_step_waits_for_the_one_that_does(self):
        job, model, optimizer = wrapped()
        turns = 0
        for x, y in job.loader(TensorDataset(*make_data()), batch_size=20, micro_batch=10, epochs=100):
            one_step(optimizer, model, (x, y))
            turns += 1
            if turns >= 3:  # the first micro-batch of the second step
                job.finish()
        self.assertEqual((job.step, turns, job.finished), (2, 4, True))

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

    def test_a_dataset_that_reads_many_at_once_is_read_by_the_threads_that_were_asked_for(self):
        class Numbers(torch.utils.data.Dataset):
            def __len__(self):
                return 50

            def __getitems__(self, indices):
                readers.add(threading.get_ident())
                return [torch.tensor(index) for index in indices]

        for threads in (0, 3):
            readers = set()
            fetched = Fetcher(Numbers(), threads=threads).batch(range(5, 15))
            self.assertEqual(fetched.tolist(), list(range(5, 15)))
            self.assertEqual(threading.get_ident() in readers, threads == 0)

    def test_a_share_is_cut_into_nearly_equal_parts(self):
        self.assertEqual([len(part) for part in parts_of(list(range(25)), 9)], [8, 8, 9])
        self.assertEqual(parts_of([], 9), [[]])
        self.assertEqual(parts_of([1, 2], None), [[1, 2]])


if __name__ == "__main__":
    unittest.main(verbosity=2)
