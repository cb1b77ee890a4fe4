"""Brings the state of an optimizer into being before the first step, so that it can be registered where it lies.

PyTorch's optimizers make their state in their first step. Here a rehearsal makes it: a step with gradients of zero
and no weight decay, after which parameters and counters are put back. Momentum, averages and squares of gradients are
zero before the first step in the optimizers of torch.optim, so the training is the same as without a rehearsal. What
differs is listed below or refused: a state that is not zero, and dampening, which SGD leaves out where it has no state.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

import torch

from tidepool._replica import Getter, Memory, Piece, PickleShadow

# State values before the first step, by optimizer and key, if they, or the rehearsal's results, are not zero.
_BEFORE_FIRST_STEP: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
    ("NAdam", "mu_product"): lambda group: 1.0,
    ("Adamax", "exp_inf"): lambda group: 0.0,  # a zero gradient leaves its epsilon
    ("ASGD", "mu"): lambda group: 1.0,
    ("ASGD", "eta"): lambda group: group["lr"],
    ("ASGD", "ax"): lambda group: 0.0,  # the first step overwrites it
    ("Rprop", "step_size"): lambda group: group["lr"],
    ("Adagrad", "sum"): lambda group: group["initial_accumulator_value"],
}


def make_state(optimizer: torch.optim.Optimizer) -> None:
    """After it, every parameter has its whole state; what had one already (a program's own checkpoint) keeps it."""
    if isinstance(optimizer, torch.optim.LBFGS):
        raise TypeError("LBFGS evaluates the loss several times in one step, which the workers cannot agree on; use an "
                        "optimizer that takes one gradient a step")
    bare = [(group, p) for group in optimizer.param_groups for p in group["params"] if _is_bare(optimizer, p)]
    if not bare:
        return
    if any(group.get("dampening") and group.get("momentum") for group, _ in bare):
        raise TypeError(f"{type(optimizer).__name__} with dampening takes its first step without it, which a state made "
                        "ahead does not show: leave dampening at 0, or give the optimizer its state before job.wrap() by "
                        "load_state_dict()")
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    gradients = [p.grad for p in parameters]
    values = [p.detach().clone() for p in parameters]
    decays = [group.get("weight_decay") for group in optimizer.param_groups]
    chosen = {id(p) for _, p in bare}
    try:
        with torch.no_grad():
            for parameter in parameters:  # step() ignores parameters without a gradient
                parameter.grad = torch.zeros_like(parameter) if id(parameter) in chosen else None
            for group, decay in zip(optimizer.param_groups, decays):
                if decay is not None:
                    group["weight_decay"] = 0.0
            # The class's step: a scheduler's wrapper of the instance's method would count the rehearsal.
            type(optimizer).step(optimizer)
    finally:
        with torch.no_grad():
            for parameter, gradient, value in zip(parameters, gradients, values):
                parameter.copy_(value)
                parameter.grad = gradient
        for group, decay in zip(optimizer.param_groups, decays):
            if decay is not None:
                group["weight_decay"] = decay
    for group, parameter in bare:
        _reset(optimizer, group, parameter)


def _is_bare(optimizer: torch.optim.Optimizer, parameter: torch.Tensor) -> bool:
    return parameter.requires_grad and not optimizer.state.get(parameter)


def _reset(optimizer: torch.optim.Optimizer, group: dict[str, Any], parameter: torch.Tensor) -> None:
    kind = type(optimizer).__name__
    state = optimizer.state[parameter]
    for key, value in state.items():
        before = _BEFORE_FIRST_STEP.get((kind, key))
        if isinstance(value, torch.Tensor):
            if before is not None or key == "step":
                value.fill_(before(group) if before is not None else 0.0)
            elif bool(value.any()):
                raise TypeError(f'the state "{key}" of {kind} is not zero before the first step, so it cannot be made '
                                "ahead: give the optimizer its state before job.wrap(), for example by load_state_dict()")
        elif key == "step" or before is not None:
            state[key] = type(value)(before(group) if before is not None else 0)


def _items(optimizer: torch.optim.Optimizer) -> Iterator[tuple[int, int, str, Any]]:
    for g, group in enumerate(optimizer.param_groups):
        for i, parameter in enumerate(group["params"]):
            for key in sorted(optimizer.state.get(parameter, {})):
                yield g, i, key, optimizer.state[parameter][key]


def pieces(name: str, optimizer: torch.optim.Optimizer) -> list[Piece]:
    """Tensors of the state as they lie; the rest (learning rates, whole numbers) as a pickled copy."""
    result: list[Piece] = []
    for g, i, key, value in _items(optimizer):
        if isinstance(value, torch.Tensor) and value.numel() > 0:
            parameter = optimizer.param_groups[g]["params"][i]
            result.append(Memory(f"{name}.{g}.{i}.{key}", value, _getter(optimizer, parameter, key)))
    result.append(_Settings(name, optimizer, tensors=len(result)))
    return result


class _Settings(PickleShadow):
    """Learning rates and whole numbers of an optimizer, of whose state so many tensors are registered beside it."""

    def __init__(self, name: str, optimizer: torch.optim.Optimizer, tensors: int) -> None:
        super().__init__(f"{name}.settings", lambda: _settings(optimizer), lambda s: _set(optimizer, s))
        self._optimizer_name = name
        self._optimizer = optimizer
        self._tensors = tensors

    def check(self) -> None:
        held = sum(isinstance(item[3], torch.Tensor) and item[3].numel() > 0 for item in _items(self._optimizer))
        if held > self._tensors:
            raise RuntimeError(f'"{self._optimizer_name}" has state that it did not have when the loop began, and no '
                               "joining worker would get it: call add_param_group() and set momentum before the loop")


def _getter(optimizer: torch.optim.Optimizer, parameter: torch.Tensor, key: str) -> Getter:
    """Looks the tensor up anew each time: load_state_dict() puts other dicts and tensors in the place of the old."""
    return lambda: optimizer.state[parameter].get(key)


def _settings(optimizer: torch.optim.Optimizer) -> tuple[list[dict[str, Any]], list[tuple[int, int, str, Any]]]:
    groups = [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]
    return groups, [item for item in _items(optimizer) if not isinstance(item[3], torch.Tensor)]


def _set(optimizer: torch.optim.Optimizer, settings: Any) -> None:
    groups, plain = settings
    for group, values in zip(optimizer.param_groups, groups):
        group.update(values)
    for g, i, key, value in plain:
        optimizer.state[optimizer.param_groups[g]["params"][i]][key] = value
