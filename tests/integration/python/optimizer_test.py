"""Optimizers in the Python package: their state is made before the first step, and shared where it lies."""

import copy
import unittest
import unittest.mock

from small_training import loss_of, make_data, make_model, one_step, wrapped

import torch
from torch.utils.data import TensorDataset

import tidepool as tp
from tidepool import _abi, _optimizer_state


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

    def test_dampening_is_refused_unless_the_state_is_there(self):
        def damped(model):
            return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, dampening=0.5)

        with self.assertRaisesRegex(TypeError, "SGD with dampening.*leave dampening at 0"):
            wrapped(damped)
        model = make_model()
        optimizer = damped(model)
        one_step(optimizer, model, make_data())
        tp.init().wrap(model, optimizer)

    def test_a_state_loaded_before_is_kept(self):
        model = make_model()
        optimizer = torch.optim.Adam(model.parameters())
        x, y = make_data()
        loss_of(model, x, y).backward()
        optimizer.step()
        before = copy.deepcopy(optimizer.state_dict())
        _optimizer_state.make_state(optimizer)
        self.assertEqual(str(before), str(optimizer.state_dict()))

    def test_what_is_unfrozen_or_added_between_wrap_and_the_loop_is_shared_with_its_state(self):
        def late(model, optimizer):
            optimizer.add_param_group({"params": model[0].parameters(), "lr": 0.2})
            return "optimizer0.1.0.momentum_buffer"

        def unfrozen(model, optimizer):
            model[2].requires_grad_(True)
            return "optimizer0.0.1.momentum_buffer"

        for change in (late, unfrozen):
            with self.subTest(change.__name__):
                model = make_model()
                model[2].weight.requires_grad_(False)
                optimizer = torch.optim.SGD([model[2].bias, model[2].weight], lr=0.1, momentum=0.9)
                job = tp.init()
                job.wrap(model, optimizer)
                name = change(model, optimizer)
                registered = []
                register = _abi.Session.register

                def watch(session, name, address, length, registered=registered, register=register):
                    registered.append(name)
                    register(session, name, address, length)

                with unittest.mock.patch.object(_abi.Session, "register", watch):
                    for batch in job.loader(TensorDataset(*make_data()), batch_size=10, steps=2):
                        one_step(optimizer, model, batch)
                self.assertIn(name, registered)

    def test_a_state_loaded_between_wrap_and_the_loop_is_what_the_workers_share(self):
        donor = make_model(seed=4)
        trained = torch.optim.Adam(donor.parameters())
        one_step(trained, donor, make_data())
        job, model, optimizer = wrapped(lambda model: torch.optim.Adam(model.parameters()))
        optimizer.load_state_dict(trained.state_dict())
        registered = {}
        register = _abi.Session.register

        def watch(session, name, address, length):
            registered[name] = address
            register(session, name, address, length)

        with unittest.mock.patch.object(_abi.Session, "register", watch):
            for batch in job.loader(TensorDataset(*make_data()), batch_size=10, steps=2):
                one_step(optimizer, model, batch)
        state = optimizer.state[model[0].weight]
        self.assertEqual(registered["optimizer0.0.0.exp_avg"], state["exp_avg"].data_ptr())
        self.assertEqual(state["step"], 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
