"""How long a step takes at least: from parameters, bytes, and the peak rates of a data sheet.

A pass over a model has two parts, and each of them waits for memory or for arithmetic, whichever
takes longer: the products with the weights, and attention over what each sequence keeps. Exchange
between devices comes on top. `Step.total` adds the three, one after the other, as engines do them;
`Step.overlapped` is the bound for an engine that does everything side by side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import errors, formulas, kvcache
from ._layers import LayerGroup, token_bytes
from ._shape import Shape, shape
from .catalog import Accelerator, Model
from .service import LinearService

ACTIVATION_BYTES = 2
"""Storage of one number that devices exchange, in engines of today [bytes]."""


@dataclass(frozen=True)
class Machine:
    """A model on devices that share every layer, in chosen formats.

    Parameters
    ----------
    model : Model
        The model.
    accelerator : Accelerator
        The device.
    devices : int
        How many of them share every layer, at least 1 [1].
    dtype : str
        Format of the weights, a key of `serving.kvcache.BYTES`.
    cache_dtype : str
        Format of the cache, a key of `serving.kvcache.BYTES`.
    arithmetic : str, optional
        Format of the arithmetic, a key of the accelerator's ``peak``; by default ``dtype``.
    weights_read : float
        Share of the weights that a pass reads, above 0 and at most 1; below 1 where a pass uses
        some of the experts only [1].
    bandwidth_share, peak_share, link_share : float
        What is reached of the peak rates of memory, arithmetic and link, above 0 and at most 1;
        with 1 the times are bounds [1].
    call_time : float
        Time that an exchange between devices takes however little is sent, at least 0 [s].

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If an argument is out of range, a format is unknown to the cache or to the accelerator, or
        the heads cannot be split over the devices.
    """

    model: Model
    accelerator: Accelerator
    devices: int = 1
    dtype: str = "fp16"
    cache_dtype: str = "fp16"
    arithmetic: str | None = None
    weights_read: float = 1.0
    bandwidth_share: float = 1.0
    peak_share: float = 1.0
    link_share: float = 1.0
    call_time: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what the model, the accelerator or the formats do not allow."""
        for name, kind in (("model", Model), ("accelerator", Accelerator)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} must be of serving.catalog, got {getattr(self, name)!r}")
        count = errors.integer("devices", self.devices, at_least=1)
        for name in ("weights_read", "bandwidth_share", "peak_share", "link_share"):
            errors.number(name, getattr(self, name), above=0, at_most=1)
        errors.number("call_time", self.call_time, at_least=0)
        name = "dtype" if self.arithmetic is None else "arithmetic"
        _known("dtype", self.dtype, kvcache.BYTES)
        _known("cache_dtype", self.cache_dtype, kvcache.BYTES)
        other = " unless arithmetic is one," if name == "dtype" else ""
        where = f", in which {self.accelerator.name} computes,{other}"
        _known(name, getattr(self, name), self.accelerator.peak, where)
        if count > 1 and not self.accelerator.link:
            raise ValueError(f"devices must be 1 without a link, got {self.devices!r}")
        object.__setattr__(self, "devices", count)
        try:
            self.layout, self.shape  # noqa: B018  what they refuse is refused here
        except ValueError as error:
            raise ValueError(f"model, cache_dtype and devices do not fit: {error}") from None

    @cached_property
    def layout(self) -> kvcache.Layout:
        """What each device keeps of a sequence."""
        return kvcache.layout(self.model.config, self.cache_dtype, self.devices)

    @cached_property
    def shape(self) -> Shape:
        """Layers and widths of the model."""
        return shape(self.model.config)

    @property
    def bandwidth(self) -> float:
        """Rate at which each device reads its memory [bytes/s]."""
        return self.accelerator.bandwidth * self.bandwidth_share

    @property
    def peak(self) -> float:
        """Rate of each device's arithmetic [operations/s]."""
        return self.accelerator.peak[self.arithmetic or self.dtype] * self.peak_share


def _known(name: str, value: Any, known: Any, where: str = ",") -> None:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}{where} got {value!r}")


@dataclass(frozen=True)
class Step:
    """The parts of the least time of a step, or of several: numbers, or arrays over batches.

    Attributes
    ----------
    read_weights, matmul : float or ndarray
        Time to read the weights, and to multiply with them [s].
    read_cache, attention : float or ndarray
        Time to read or write what sequences keep, and for scores and weighted sums [s].
    traffic : float or ndarray
        Time in which devices exchange partial results [s].
    """

    read_weights: Any
    matmul: Any
    read_cache: Any
    attention: Any
    traffic: Any

    @property
    def memory(self) -> Any:
        """Time in which memory is read [s]."""
        return self.read_weights + self.read_cache

    @property
    def compute(self) -> Any:
        """Time in which arithmetic is done [s]."""
        return self.matmul + self.attention

    @property
    def total(self) -> Any:
        """Least time if weights, attention and exchange come one after the other [s]."""
        weights = np.maximum(self.read_weights, self.matmul)
        return weights + np.maximum(self.read_cache, self.attention) + self.traffic

    @property
    def overlapped(self) -> Any:
        """Least time if memory, arithmetic and links all work side by side [s]."""
        return np.maximum(np.maximum(self.memory, self.compute), self.traffic)

    @property
    def bound(self) -> Any:
        """Which takes longest: "memory", "compute" or "traffic"."""
        parts = np.broadcast_arrays(self.memory, self.compute, self.traffic)
        found = np.array(["memory", "compute", "traffic"])[np.argmax(parts, axis=0)]
        return found if found.ndim else str(found)


@dataclass(frozen=True)
class Answers:
    """The least time of a batch of whole answers.

    Attributes
    ----------
    prefill : Step
        The pass over the prompts, which gives the first token of each answer.
    decode : Step
        The steps for all other tokens, added up.
    """

    prefill: Step
    decode: Step

    @property
    def total(self) -> Any:
        """Least time until the last token [s]."""
        return self.prefill.total + self.decode.total


@dataclass(frozen=True)
class DerivedService(LinearService):
    """A linear service that follows from data sheets, and the batches for which it holds.

    Attributes
    ----------
    first_batch, last_batch : float
        Between these the least time is the line. For smaller batches prompts wait for memory, for
        larger ones steps wait for arithmetic, and it is longer than the line [requests].
    """

    first_batch: float
    last_batch: float


def decode_step(
    model: Model, accelerator: Accelerator, batch: ArrayLike, tokens: int, **options: Any
) -> Step:
    """Least time of a step that writes one token for each sequence of a batch.

    Parameters
    ----------
    model : Model
        The model.
    accelerator : Accelerator
        The device.
    batch : float or array_like
        Sequences in the step, at least 1 [requests].
    tokens : int
        Tokens of each sequence, the new one included, at least 1 and within the model's
        context [tokens].
    **options
        Devices, formats and shares of peaks, as `Machine` takes them.

    Returns
    -------
    Step
        Its parts [s].

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If a number is out of range, or an argument is refused by `Machine`.

    Notes
    -----
    Every parameter counts as read, and multiplied with, once; a table of embeddings that is not
    the output matrix too is not, so that the bound may be high by its share of the parameters.
    Source: Pope et al. 2023, section 2; Williams et al. 2009.

    Examples
    --------
    >>> from serving import catalog
    >>> model, device = catalog.model("llama-2-70b"), catalog.accelerator("a100-80gb")
    >>> step = decode_step(model, device, batch=16, tokens=2048, devices=4)
    >>> f"{step.total:.4f} s, {step.bound}"
    '0.0184 s, memory'
    """
    machine = Machine(model, accelerator, **options)
    length = _length("tokens", tokens, model.context)
    return _parts(machine, _batch(batch), 1, range(length, length + 1), 1)


def prefill(
    model: Model, accelerator: Accelerator, batch: ArrayLike, tokens: int, **options: Any
) -> Step:
    """Least time of one pass over the prompts of a batch, which writes their cache.

    Parameters
    ----------
    model, accelerator : Model, Accelerator
        As of `decode_step`, like ``options``.
    batch : float or array_like
        Prompts in the pass, at least 1 [requests].
    tokens : int
        Tokens of each prompt, at least 1 and within the model's context [tokens].
    **options
        Of `Machine`.

    Returns
    -------
    Step
        Its parts [s].

    Raises
    ------
    TypeError, ValueError
        As of `decode_step`.

    Notes
    -----
    As for `decode_step`; the output matrix counts for every token of a prompt, though an engine
    needs it for the last one only. Source: Pope et al. 2023, section 2.

    Examples
    --------
    >>> from serving import catalog
    >>> model, device = catalog.model("gpt-3"), catalog.accelerator("a100-80gb")
    >>> step = prefill(model, device, batch=8, tokens=128, devices=8)
    >>> f"{step.matmul:.4f} s, {step.bound}"
    '0.1436 s, compute'
    """
    machine = Machine(model, accelerator, **options)
    length = _length("tokens", tokens, model.context)
    return _prompts(machine, _batch(batch), length)


def answers(
    model: Model,
    accelerator: Accelerator,
    batch: ArrayLike,
    input_tokens: int,
    output_tokens: int,
    **options: Any,
) -> Answers:
    """Least time of a batch that starts together and writes answers of one length.

    Parameters
    ----------
    model, accelerator : Model, Accelerator
        As of `decode_step`, like ``options``.
    batch : float or array_like
        Requests in the batch, at least 1 [requests].
    input_tokens : int
        Tokens of each prompt, at least 1 [tokens].
    output_tokens : int
        Tokens of each answer, at least 1; all but the last must fit into the model's context with
        the prompt [tokens].
    **options
        Of `Machine`.

    Returns
    -------
    Answers
        The pass over the prompts, and the steps after it.

    Raises
    ------
    TypeError, ValueError
        As of `decode_step`.

    Notes
    -----
    The pass over the prompts gives the first token; a step is taken for each of the others.
    """
    machine = Machine(model, accelerator, **options)
    sizes = _batch(batch)
    prompt = _length("input_tokens", input_tokens, model.context)
    written = _length("output_tokens", output_tokens, model.context - prompt + 1)
    lengths = range(prompt + 1, prompt + written)
    rest = _parts(machine, sizes, 1, lengths, written - 1)
    return Answers(_prompts(machine, sizes, prompt), rest)


def service(
    model: Model, accelerator: Accelerator, input_tokens: int, output_tokens: int, **options: Any
) -> DerivedService:
    """Derive the two numbers of a linear service from a model and its machine.

    Parameters
    ----------
    model, accelerator : Model, Accelerator
        As of `decode_step`, like ``options``.
    input_tokens, output_tokens : int
        Of each prompt and each answer, as of `answers` [tokens].
    **options
        Of `Machine`.

    Returns
    -------
    DerivedService
        The line on which `answers` lies for batches from ``first_batch`` to ``last_batch``.

    Raises
    ------
    TypeError, ValueError
        As of `decode_step`.

    Examples
    --------
    >>> from serving import catalog
    >>> model, device = catalog.model("gpt-3"), catalog.accelerator("a100-80gb")
    >>> line = service(model, device, input_tokens=128, output_tokens=8, devices=8)
    >>> f"{line.t_fixed:.3f} s and {line.t_req:.4f} s a request, to B = {line.last_batch:.0f}"
    '0.150 s and 0.0205 s a request, to B = 153'
    """
    one = answers(model, accelerator, 1, input_tokens, output_tokens, **options)
    machine = Machine(model, accelerator, **options)
    calls = errors.integer("output_tokens", output_tokens) * _traffic(machine, 0.0, 1)
    t_req = one.prefill.matmul + one.prefill.traffic + one.decode.traffic - calls
    t_req += sum(max(part.read_cache, part.attention) for part in (one.prefill, one.decode))
    first = one.prefill.read_weights / one.prefill.matmul
    last = first * input_tokens if output_tokens > 1 else math.inf
    if last <= 1:  # arithmetic is the longer part of every step
        return DerivedService(calls, t_req + one.decode.matmul, 1.0, math.inf)
    return DerivedService(one.decode.read_weights + calls, t_req, max(first, 1.0), last)


def _length(name: str, tokens: Any, most: int) -> int:
    length = errors.integer(name, tokens, at_least=1)
    if length > most:
        raise ValueError(
            f"{name} must be at most {most} within the model's context, got {tokens!r}"
        )
    return length


def _batch(batch: ArrayLike) -> Any:
    if errors.is_scalar(batch):
        return errors.number("batch", batch, at_least=1)
    return errors.array("batch", batch, at_least=1)


def _prompts(machine: Machine, batch: Any, length: int) -> Step:
    """Parts of a pass over prompts: each token meets those before it, the cache is written once."""
    met = _parts(machine, batch, length, range(1, length + 1), 1)
    written = _parts(machine, batch, length, range(length, length + 1), 1)
    return Step(met.read_weights, met.matmul, written.read_cache, met.attention, met.traffic)


def _parts(machine: Machine, batch: Any, new: int, lengths: range, passes: int) -> Step:
    """Parts of some passes of so many new tokens a sequence, attention at each of the lengths."""
    value, devices, layout = formulas.value, machine.devices, machine.layout
    weights = machine.weights_read * machine.model.parameters
    size = kvcache.BYTES[machine.dtype]
    once = value(formulas.weight_read_time, weights, size, devices, machine.bandwidth)
    held = [_held(group, lengths) for group in layout.groups]
    kept = passes * sum(state.bytes for state in layout.states) + sum(
        tokens * token_bytes(group, layout.dtype)
        for group, tokens in zip(layout.groups, held, strict=True)
    )
    met = sum(g.layers * n for g, n in zip(layout.groups, held, strict=True) if not g.encoder)
    one_layer = (1, machine.shape.attention_width, met, devices, machine.peak)
    used = machine.model.active_parameters
    return Step(
        passes * once + 0 * batch,
        passes * value(formulas.matmul_time, batch, used * new, devices, machine.peak),
        value(formulas.cache_read_time, batch, kept * devices, devices, machine.bandwidth),
        value(formulas.attention_time, batch, *one_layer),
        passes * _traffic(machine, batch, new),
    )


def _held(group: LayerGroup, lengths: range) -> int:
    """Tokens that a group keeps of a sequence, added up over its lengths."""
    if group.encoder:
        if group.window is None:
            raise ValueError("model must say how many tokens its encoder hands over")
        return len(lengths) * group.window
    window = lengths.stop if group.window is None else group.window
    grows = len(range(lengths.start, min(lengths.stop, window + 1)))
    return grows * (2 * lengths.start + grows - 1) // 2 + (len(lengths) - grows) * window


def _traffic(machine: Machine, batch: Any, new: int) -> Any:
    """Time that devices exchange partial results in a pass of so many new tokens a sequence."""
    if machine.devices == 1:
        return 0.0 * batch
    sizes = (machine.shape.layers, machine.shape.width * new, ACTIVATION_BYTES, machine.devices)
    link = machine.accelerator.link * machine.link_share
    return formulas.value(formulas.exchange_time, batch, *sizes, link, machine.call_time)
