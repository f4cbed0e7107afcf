"""The same question with one thing changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from . import kvcache
from ._question import Question


def relax(question: Question) -> dict[str, Question]:
    """Ask the same question with one thing changed that may make the region larger.

    Parameters
    ----------
    question : Question
        What is served, on what, to whom, and what is promised.

    Returns
    -------
    dict of str to Question
        By what is changed. What cannot be built is left out: heads that do not split, a format
        that the device does not have. So is, where times were measured, what changes them.

    Notes
    -----
    Where each head has keys of its own, at least 8 heads share them: another model, trained anew
    or converted, see Ainslie et al. 2023.
    """
    changed: dict[str, Question] = {}
    for name, change in _CHANGES.items():
        try:
            other = change(question)
        except ValueError:
            continue
        if other is not None:
            changed[name] = other
    return changed


def _machine(question: Question, **changes: Any) -> Question:
    return replace(question, machine=replace(question.machine, **changes))


def _small_cache(question: Question) -> Question | None:
    wide = kvcache.BYTES[question.machine.cache_dtype] > 1
    return _machine(question, cache_dtype="fp8") if wide else None


def _small_weights(question: Question) -> Question | None:
    machine = question.machine
    if question.service is not None or kvcache.BYTES[machine.dtype] <= 1:
        return None
    return _machine(question, dtype="int8", arithmetic=machine.arithmetic or machine.dtype)


def _grouped(question: Question) -> Question | None:
    model = question.machine.model
    heads, kept = (model.config.get(f"num_{name}_heads") for name in ("attention", "key_value"))
    if not heads or kept not in (None, heads) or heads < 8 or "kv_lora_rank" in model.config:
        return None
    devices = question.machine.devices
    split = [n for n in range(heads // 8, 0, -1) if not (heads % n or n % devices and devices % n)]
    config = MappingProxyType({**model.config, "num_key_value_heads": split[0]})
    return _machine(question, model=replace(model, config=config))


def _more_devices(question: Question) -> Question | None:
    if question.service is not None:
        return None
    return _machine(question, devices=2 * question.machine.devices)


def _replica(question: Question) -> Question:
    return replace(question, arrival_rate=question.arrival_rate / 2)


def _other_policy(question: Question) -> Question:
    return replace(question, policy="fixed" if question.policy == "greedy" else "greedy")


_CHANGES: dict[str, Callable[[Question], Question | None]] = {
    "cache in 8 bits": _small_cache,
    "weights in 8 bits": _small_weights,
    "heads share keys": _grouped,
    "twice the devices": _more_devices,
    "a second replica": _replica,
    "the other policy": _other_policy,
}
