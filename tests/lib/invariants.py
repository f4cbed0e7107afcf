"""What is true of every result of the numeric functions, decided by exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from serving import (
    LinearService,
    UnstableError,
    _question,
    attention,
    constraint,
    engine,
    errors,
    kvcache,
    paging,
    policies,
    queues,
    roofline,
)

RELATIVE = Fraction(1, 10**9)
"""Far above what float64 loses in a few operations, far below what a reader sees."""
RELATIVE_FLOAT = 1e-9
UNDERFLOW = Fraction(1, 10**300)
"""Below it float64 has fewer digits or none."""


def exact(value: Any) -> Fraction:
    """Return the fraction that a number prints as."""
    return errors.exact("value", value)


def assert_near(value: Any, expected: Fraction, scale: Fraction = Fraction(0)) -> None:
    """Check a float against the exact result."""
    assert math.isfinite(value)
    size = max(abs(expected), scale)
    assert abs(Fraction(float(value)) - expected) <= RELATIVE * size + UNDERFLOW


def each(batch: Any, *results: Any) -> list[tuple[Any, ...]]:
    """Batch sizes beside results of the same shape."""
    for result in results:
        assert np.shape(result) == np.shape(batch)
    if np.ndim(batch) == 0:
        return [(batch, *results)]
    return list(zip(batch, *results, strict=True))


def parts(service: LinearService) -> tuple[Fraction, Fraction]:
    """Return the two times of a service, exactly."""
    return exact(service.t_fixed), exact(service.t_req)


def made(service: LinearService, t_fixed: Any, t_req: Any) -> None:
    """Check that a service keeps its times, and that its limit is right or named."""
    kept = (service.t_fixed, service.t_req)
    assert kept == tuple(t if isinstance(t, Fraction) else float(t) for t in (t_fixed, t_req))
    try:
        limit = service.max_rate
    except ValueError as error:
        assert "t_req" in str(error)
        return
    if service.t_req == 0:
        assert limit == math.inf
    else:
        assert_near(limit, 1 / exact(service.t_req))


def time(result: Any, self: LinearService, batch: Any) -> None:
    """Check the time of each batch."""
    t_fixed, t_req = parts(self)
    for size, seconds in each(batch, result):
        assert_near(seconds, t_fixed + t_req * exact(size))


def rate(result: Any, self: LinearService, batch: Any) -> None:
    """Check the rate at each batch."""
    t_fixed, t_req = parts(self)
    for size, value in each(batch, result):
        assert_near(value, exact(size) / (t_fixed + t_req * exact(size)))


def reaches(batch: int, arrival_rate: Any, service: LinearService, target: Any) -> bool:
    """Whether a batch meets a target; at a target of one the queue must be stable."""
    t_fixed, t_req = parts(service)
    load = exact(arrival_rate) * (t_fixed + t_req * batch) / batch
    return load < 1 if exact(target) == 1 else load <= exact(target)


def min_batch(result: int, self: LinearService, arrival_rate: Any, utilization: Any = 1) -> None:
    """Check that the batch is enough and that one less is not."""
    assert isinstance(result, int) and result >= 1
    assert reaches(result, arrival_rate, self, utilization)
    assert result == 1 or not reaches(result - 1, arrival_rate, self, utilization)


def fit(result: LinearService, batches: Any, times: Any) -> None:
    """Check that the line is the one of least squares, and its residuals."""
    sizes, measured = ([exact(x) for x in row] for row in (batches, times))
    mean, middle = sum(sizes) / len(sizes), sum(measured) / len(sizes)
    spread = sum((x - mean) ** 2 for x in sizes)
    slope = sum((x - mean) * y for x, y in zip(sizes, measured, strict=True)) / spread
    largest, worst = max(measured), max(sizes) / (max(sizes) - min(sizes))
    for size, residual, y in zip(sizes, result.relative_residuals, measured, strict=True):
        line = exact(result.t_fixed) + exact(result.t_req) * size
        assert abs(line - (middle + slope * (size - mean))) <= RELATIVE * largest * worst
        assert_near(residual, 1 - line / y, scale=max(1, line / y))
    if result.stderr is not None:
        assert all(math.isfinite(error) and error >= 0 for error in result.stderr)


def diagnosis(result: Any, batches: Any, times: Any) -> None:
    """Check the line, its worst point, and that tests give probabilities."""
    fit(result.service, batches, times)
    residuals = result.service.relative_residuals
    assert abs(result.worst) == np.abs(residuals).max() and result.worst in residuals
    assert result.worst_batch in [float(size) for size in batches]
    for p in (result.curvature, result.kink):
        assert p is None or 0 <= p <= 1
    assert (result.straight is None) == (result.curvature is None and result.kink is None)
    assert result.kink_at is None or min(batches) < result.kink_at < max(batches)
    assert all(0 <= place < len(batches) for place in result.outliers)
    assert len(result.outliers) < len(batches)


def reach(result: Any, self: Any, batch: Any) -> None:
    """Check how far a size lies outside, and that both lines are times."""
    assert result.factor >= 1 and result.line == self.service.time(batch)
    assert result.local is None or 0 < result.local < math.inf


def loaded(result: Any, path: Any, batch: Any = None, concurrency: Any = None) -> None:
    """Check that what the caller knew is in the points, and that all times are positive."""
    assert result.points and all(point.file == str(path) for point in result.points)
    for point in result.points:
        assert batch is None or point.batch == exact(batch)
        assert concurrency is None or point.concurrency == exact(concurrency)
        for number in (point.latency, point.throughput, *point.percentiles.values()):
            assert number is None or 0 < number < math.inf


def ranks(result: Any, count: Any, quantile: Any, level: Any = 0.95) -> None:
    """Check that the ranks are of times, around the percentile; their law has a test of its own."""
    lower, upper = result.lower or 0, result.upper or count + 1
    assert 0 <= lower < upper <= count + 1
    assert lower <= exact(quantile) * (count + 1) <= upper or level < 0.5


def supported(result: Any, measured: Any, quantile: Any = 0.99, level: Any = 0.95) -> None:
    """Check that each claim has a verdict and a reason."""
    assert len({one.claim for one in result}) == 5
    assert all(isinstance(one.holds, bool) and one.reason for one in result)


def response(result: Any, arrival_rate: Any, batch: Any, service: LinearService) -> None:
    """Check each part, and that the parts add up."""
    t_fixed, t_req = parts(service)
    arriving = exact(arrival_rate)
    fields = (result.wait, result.accumulation, result.service, result.total, result.utilization)
    for size, wait, accumulation, seconds, total, load in each(batch, *fields):
        busy = t_fixed + t_req * exact(size)
        expected = arriving * busy / exact(size)
        assert expected < 1 and load <= 1
        room = max(1, expected / (1 - expected))  # near capacity a rounding of the load grows
        assert_near(load, expected)
        assert_near(seconds, busy)
        assert_near(accumulation, (exact(size) - 1) / (2 * arriving))
        assert_near(wait, busy * expected / (2 * (1 - expected)), scale=room * busy)
        assert_near(total, sum(Fraction(float(x)) for x in (wait, accumulation, seconds)))


def optimum(result: int, arrival_rate: Any, service: LinearService) -> None:
    """Check that no neighbour is better, and that of two equal ones it is the smaller."""
    assert isinstance(result, int) and reaches(result, arrival_rate, service, 1)
    t_fixed, t_req = parts(service)
    arriving = exact(arrival_rate)

    def total(size: int) -> Fraction:
        busy = t_fixed + t_req * size
        load = arriving * busy / size
        return busy * load / (2 * (1 - load)) + (Fraction(size) - 1) / (2 * arriving) + busy

    assert total(result) <= total(result + 1)
    if result > 1 and reaches(result - 1, arrival_rate, service, 1):
        assert total(result) < total(result - 1)


def departures(result: Any, arrivals: Any, services: Any) -> None:
    """Check Lindley's recursion, and so that requests leave in order and after their service."""
    lasting = [services] * len(arrivals) if np.ndim(services) == 0 else list(services)
    assert result.shape == (len(arrivals),)
    before = None
    for arrival, service, departure in zip(arrivals, lasting, result, strict=True):
        start = exact(arrival) if before is None else max(exact(arrival), before)
        before = start + exact(service)
        scale = max(abs(exact(arrival)), abs(before), sum(exact(x) for x in lasting))
        assert_near(departure, before, scale)


def window(result: Any, arrival_rate: Any, max_batch: Any, max_wait: Any) -> None:
    """Check the bounds of every window, and the sums of the definition where they are short."""
    rate, size = exact(arrival_rate), int(exact(max_batch))
    endless = max_wait == math.inf
    wait = exact(1.7976931348623157e308) * size / min(rate, 1) if endless else exact(max_wait)
    most, longest = min(Fraction(size), 1 + rate * wait), min(wait, (size - 1) / rate)
    assert 1 <= result.mean_size and 0 <= result.full <= 1
    assert exact(result.mean_size) <= most * (1 + RELATIVE)
    for seconds in (result.mean_delay, result.mean_length):
        assert 0 <= exact(seconds) <= longest * (1 + RELATIVE) + UNDERFLOW
    assert_near(result.mean_size, 1 + rate * exact(result.mean_length))
    if rate * wait > 1000 or size > 300:
        return
    mean = mpmath.mpf(rate.numerator) * wait.numerator / rate.denominator / wait.denominator
    with mpmath.workdps(60):
        law = [mpmath.exp(-mean) * mean**n / mpmath.factorial(n) for n in range(size + 1)]
        law, over = law[: size - 1], 1 - mpmath.fsum(law[:size])
        full = 1 - mpmath.fsum(law)
        requests = mpmath.fsum((n + 1) * p for n, p in enumerate(law)) + size * full
        # delays of a request, in the time in which one arrives
        timed_out = mean / 2 * mpmath.fsum((n + 2) * p for n, p in enumerate(law))
        delays = (size * (size - 1) / mpmath.mpf(2) * over + timed_out) / requests
        for value, expected in [(result.mean_size, requests), (result.full, full)]:
            assert abs(value - expected) <= RELATIVE_FLOAT * expected + 1e-50
        product = mpmath.mpf(result.mean_delay) * rate.numerator / rate.denominator
        assert abs(product - delays) <= RELATIVE_FLOAT * delays + 1e-50
    if result.full > 0:
        assert 0 <= result.full_delay <= float(longest / 2) * (1 + 1e-9) + 1e-300
    np.testing.assert_allclose(result.sizes, [*map(float, law), float(full)], 1e-9, 1e-50)


def long_run(
    result: Any, arriving: Fraction, mean: Fraction, wait: Fraction, servers: int = 1
) -> None:
    """Check the means of a queue: Little's law, and who is in service by the load."""
    assert_near(result.utilization, arriving * mean / servers)
    assert_near(result.mean_wait, wait)
    assert_near(result.mean_response, wait + mean)
    assert_near(result.mean_waiting, arriving * wait)
    assert_near(result.mean_number, arriving * (wait + mean))


def mm1(result: Any, arrival_rate: Any, service_rate: Any) -> None:
    """Check a queue whose number is geometric: a wait of one service for each one found."""
    arriving, served = exact(arrival_rate), exact(service_rate)
    assert arriving < served
    found = 1 / (1 - arriving / served) - 1
    long_run(result, arriving, 1 / served, found / served)


def mg1(
    result: Any,
    arrival_rate: Any,
    service_mean: Any,
    service_second_moment: Any,
    transform: Any = None,
) -> None:
    """Check the balance that the wait obeys: the work found in service and in the queue."""
    arriving, mean, second = map(exact, (arrival_rate, service_mean, service_second_moment))
    assert arriving * mean < 1 and second >= mean**2 * (1 - RELATIVE)
    long_run(result, arriving, mean, arriving * second / 2 / (1 - arriving * mean))
    if transform is not None and Fraction(1, 50) < arriving * mean <= Fraction(99, 100):
        busy, late = float(arriving * mean), result.wait.quantile(0.999)
        assert result.wait.sf(0) == busy and result.wait.sf(-1) == 1
        assert abs(result.wait.sf(late) - 0.001) <= 1e-7 or late == 0
        # Markov's inequality, and that a wait is rarely longer the longer it is
        assert result.wait.sf(10 * result.mean_wait) <= 0.1
        shares = result.wait.sf(np.linspace(0, 3, 13) * result.mean_wait)
        assert np.all(np.diff(shares) <= 1e-8)


def erlang(load: Fraction, servers: int) -> Any:
    """Loss of Erlang by his recursion, with 50 digits."""
    with mpmath.workdps(50):
        inverse, offered = mpmath.mpf(1), mpmath.mpf(load.numerator) / load.denominator
        for count in range(1, servers + 1):
            inverse = 1 + count * inverse / offered
        return 1 / inverse


def delayed(load: Fraction, servers: int) -> Any:
    """Probability of waiting in M/M/c, from the loss."""
    with mpmath.workdps(50):
        share = mpmath.mpf(load.numerator) / load.denominator / servers
        lost = erlang(load, servers) if load else mpmath.mpf(0)
        return lost / (1 - share * (1 - lost))


def close(value: float, expected: Any) -> None:
    """Check a float against a number of 50 digits."""
    assert abs(value - expected) <= RELATIVE_FLOAT * abs(expected) + 1e-300


def erlang_b(result: float, load: Any, servers: Any) -> None:
    """Check the loss against the recursion, and never less than what is too much."""
    count, offered = int(exact(servers)), exact(load)
    assert 0 <= result <= 1 and result >= float(1 - count / max(offered, count)) * (1 - 1e-9)
    if offered and count <= 3000:
        close(result, erlang(offered, count))


def erlang_c(result: float, load: Any, servers: Any) -> None:
    """Check the probability of waiting against the recursion."""
    count = int(exact(servers))
    assert exact(load) < count and 0 <= result <= 1
    if count <= 3000:
        close(result, delayed(exact(load), count))


def halfin_whitt(result: float, staffing_margin: Any) -> None:
    """Check the limit with 50 digits."""
    margin = exact(staffing_margin)
    assert 0 <= result < 1 or margin < RELATIVE
    with mpmath.workdps(50):
        beta = min(mpmath.mpf(margin.numerator) / margin.denominator, 100)
        close(result, 1 / (1 + beta * mpmath.ncdf(beta) / mpmath.npdf(beta)))


def least_servers(result: int, load: Any, delay_probability: Any) -> None:
    """Check that so many are enough, and one fewer is not."""
    offered, target = exact(load), float(exact(delay_probability))
    assert isinstance(result, int) and result > offered
    if result <= 3000:
        assert delayed(offered, result) <= target * (1 + 1e-12)
        assert offered >= result - 1 or delayed(offered, result - 1) > target * (1 - 1e-12)


def mmc(result: Any, arrival_rate: Any, service_rate: Any, servers: Any) -> None:
    """Check the wait against Erlang, and that its law has its mean."""
    arriving, served, count = exact(arrival_rate), exact(service_rate), int(exact(servers))
    spare = count * served - arriving
    assert spare > 0
    if count <= 3000:
        close(result.delay_probability, delayed(arriving / served, count))
    wait = exact(result.delay_probability) / spare
    long_run(result, arriving, 1 / served, wait, count)
    late = result.wait.quantile(0.99)
    assert late == 0 or math.isclose(result.wait.sf(late), 0.01, rel_tol=1e-6)


def mdc(result: Any, arrival_rate: Any, service_time: Any, servers: Any) -> None:
    """Check that constant service waits at least half as long as exponential, and at most so."""
    arriving, time, count = exact(arrival_rate), exact(service_time), int(exact(servers))
    assert arriving * time < count
    long_run(result, arriving, time, exact(result.mean_wait), count)
    other = queues.mmc(arrival_rate, 1 / time, servers)
    if other.mean_wait > 1e-290:
        assert 0.5 - 1e-9 <= result.mean_wait / other.mean_wait <= 1 + 1e-9
    assert 0 <= result.delay_probability <= 1
    if count <= 64:
        late = result.wait.quantile(0.99)
        assert late == 0 or math.isclose(result.wait.sf(late), 0.01, rel_tol=1e-6)


def mmck(result: Any, arrival_rate: Any, service_rate: Any, servers: Any, capacity: Any) -> None:
    """Check the flow of requests in and out, and the states with 50 digits."""
    arriving, served = exact(arrival_rate), exact(service_rate)
    count, places = int(exact(servers)), int(exact(capacity))
    assert 0 <= result.loss <= 1 and 0 <= result.utilization <= 1 + 1e-12
    offered = arriving / served / count
    assert_near(result.utilization, offered * (1 - exact(result.loss)), offered)
    assert result.mean_number <= places * (1 + 1e-9)
    assert 0 <= result.wait.sf(0) <= result.delay_probability * (1 + 1e-9)
    if places > 400 or not arriving:
        return
    with mpmath.workdps(50):
        offered = mpmath.mpf(arriving.numerator) / arriving.denominator
        offered *= mpmath.mpf(served.denominator) / served.numerator
        weights = [mpmath.mpf(1)]
        for n in range(1, places + 1):
            weights.append(weights[-1] * offered / min(n, count))
        close(result.loss, weights[-1] / mpmath.fsum(weights))
        inside = mpmath.fsum(n * w for n, w in enumerate(weights)) / mpmath.fsum(weights)
        close(result.mean_number, inside)


def mgc(
    result: Any, arrival_rate: Any, service_mean: Any, service_second_moment: Any, servers: Any
) -> None:
    """Check what the rules promise: exact for one server, and an order between them."""
    arriving, mean = exact(arrival_rate), exact(service_mean)
    second, count = exact(service_second_moment), int(exact(servers))
    assert arriving * mean < count
    waits = [wait for wait in vars(result).values() if wait is not None]
    assert all(math.isfinite(wait) and wait >= 0 for wait in waits) and len(waits) >= 2
    exponential = exact(queues.mmc(arrival_rate, 1 / mean, servers).mean_wait)
    assert_near(result.allen_cunneen, second / mean**2 / 2 * exponential)
    if count == 1:
        for wait in waits:
            assert_near(wait, arriving * second / 2 / (1 - arriving * mean))
    elif second <= mean**2 * (1 + RELATIVE):
        assert result.allen_cunneen <= result.kimura * (1 + 1e-9)
        assert result.kimura <= float(exponential) * (1 + 1e-9)


def gamma_transform(result: Any, service_mean: Any, service_cv: Any) -> None:
    """Check the transform at the rate of service, with 50 digits."""
    mean, variation = exact(service_mean), exact(service_cv)
    if not Fraction(1, 10**300) < mean < 10**300:
        return
    with mpmath.workdps(50):
        square = mpmath.mpf(variation.numerator) ** 2 / variation.denominator**2
        expected = (1 + square) ** (-1 / square) if square > 1e-20 else mpmath.exp(-1)
        assert abs(result(float(1 / mean)) - expected) <= 1e-9


def layout(result: Any, config: Any, dtype: str, tensor_parallel: Any) -> None:
    """Check what a token keeps against a count of heads, all of them kept somewhere."""
    layers, heads = config["num_hidden_layers"], config["num_attention_heads"]
    dim = int(exact(config.get("head_dim") or Fraction(config.get("hidden_size", 0), heads)))
    kept = config.get("num_key_value_heads") or heads
    devices = int(exact(tensor_parallel))
    copies = max(1, devices // kept)  # of each head
    whole = {"fp32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1}
    eighths = {
        "int4": 4,
        "fp8_scaled": 8.25,
        "q8_0": 8.5,
        "q5_1": 6,
        "q5_0": 5.5,
        "q4_1": 5,
        "q4_0": 4.5,
    }
    size = Fraction(whole.get(dtype, 0)) or Fraction(eighths[dtype]) / 8
    everywhere = sum(copies * 2 * dim * size for _ in range(kept)) * int(exact(layers))
    assert isinstance(result.bytes_per_token, int)
    assert result.bytes_per_token * devices == everywhere


def dimensions(result: Any, config: Any) -> None:
    """Check that the fields are read as they stand."""
    assert result == (exact(config["num_hidden_layers"]), exact(config["hidden_size"]))
    assert all(isinstance(one, int) and one >= 1 for one in result)


def recounted(layout: Any, tokens: Any, encoder_tokens: Any, block: int) -> Fraction:
    """Count what a sequence keeps, number by number, in rows of whole blocks."""
    size = kvcache.BYTES[layout.dtype]
    total = Fraction(0)
    for group in layout.groups:
        rows = int(exact(tokens)) if not group.encoder else encoder_tokens
        rows = group.window if rows is None else int(exact(rows))
        rows = rows if group.window is None else min(rows, group.window)
        total += (
            math.ceil(Fraction(rows, block))
            * block
            * (group.keys + group.values)
            * (group.layers * size)
        )
    return total + sum(4 * state.numbers * state.layers for state in layout.states)


def sequence_bytes(result: int, self: Any, tokens: Any, encoder_tokens: Any = None) -> None:
    """Check the count, and that no token costs more than a token can."""
    assert isinstance(result, int)
    assert result == recounted(self, tokens, encoder_tokens, 1)
    assert self.context is None or exact(tokens) <= self.context
    if exact(tokens) >= 1:
        before = self.sequence_bytes(exact(tokens) - 1, encoder_tokens)
        assert 0 <= result - before <= self.bytes_per_token


def max_sequences(
    result: int,
    self: Any,
    memory: Any,
    tokens: Any,
    block_size: Any,
    encoder_tokens: Any = None,
) -> None:
    """Check that so many fit in whole blocks, and that one more does not."""
    each = recounted(self, tokens, encoder_tokens, int(exact(block_size)))
    assert isinstance(result, int) and result >= 0
    assert result * each <= exact(memory) < (result + 1) * each


def memory_budget(result: Any, memory: Any, utilization: Any, **spent: Any) -> None:
    """Check that all memory is accounted for, and that nothing left has a reason."""
    lists = {name: value if isinstance(value, list) else [value] for name, value in spent.items()}
    memories = memory if isinstance(memory, list) else [memory]
    for rank, left in enumerate(result.ranks):
        used = sum(exact(one[rank % len(one)]) for one in lists.values())
        room = exact(utilization) * exact(memories[rank % len(memories)]) - used
        assert isinstance(left, int) and 0 <= left
        assert left <= room < left + 1 or (left == 0 and room < 1 and result.reason)
    assert result.cache == min(result.ranks) and bool(result.reason) == (result.cache == 0)


def capacity(result: Any, layout: Any, memory: Any, tokens: Any, **setting: Any) -> None:
    """Check that the blocks fit, the next does not, and what is said of the longest request."""
    room, length, stages = exact(memory), exact(tokens), int(exact(setting["stages"]))
    assert all(isinstance(n, int) and n >= 0 for n in (result.blocks, result.tokens))
    up = result.block_bytes if setting["engine"] == "tensorrt-llm" else 0
    assert result.blocks * result.block_bytes <= room + up
    assert (result.blocks + 1) * result.block_bytes > room
    assert math.isfinite(result.concurrency)
    assert (result.request_blocks > result.blocks) == bool(result.reason)
    assert (result.longest == length) == (not result.reason) and 0 <= result.longest <= length
    if result.reason:
        for more, fits in [(0, True), (1, False)]:
            if result.longest + more:
                other = kvcache.capacity(layout, memory, result.longest + more, **setting)
                assert (other.request_blocks <= result.blocks) == fits
    if stages == 1 and len(layout.groups) == 1 and setting["engine"] in ("vllm-v1", "vllm-v0"):
        block = int(exact(setting["block_size"] or 16))
        assert result.tokens * (0 if layout.groups[0].encoder else layout.bytes_per_token) <= room
        assert layout.states or result.tokens == result.blocks * block


def allocation(result: Any, layout: Any, tokens: Any, **setting: Any) -> None:
    """Check that there is room for the context in layers that keep all, and that all is counted."""
    context, slots = exact(tokens), int(exact(setting["sequences"]))
    for cells, group in zip(result.cells, layout.groups, strict=True):
        assert isinstance(cells, int) and cells >= 1
        if not group.encoder and (group.window is None or setting["engine"] != "llama.cpp"):
            assert cells >= context
    rows = [
        cells * group.layers * (group.keys + group.values) * kvcache.BYTES[layout.dtype]
        for cells, group in zip(result.cells, layout.groups, strict=True)
    ]
    states = sum(state.layers * state.numbers * 4 for state in layout.states) * slots
    assert result.total == sum(rows) + states and result.states == states


def longest_context(
    result: int,
    layout: Any,
    memory: Any,
    at_most: Any,
    engine: str,
    block_size: Any,
    **setting: Any,
) -> None:
    """Check that a context of this length fits, and that one token more does not."""
    assert isinstance(result, int) and 0 <= result <= exact(at_most)
    for tokens, expected in [(result, True), (result + 1, False)]:
        if not 1 <= tokens <= exact(at_most):
            continue
        if engine in ("vllm", "vllm-v1", "vllm-v0", "sglang", "tensorrt-llm"):
            step = setting["batched_tokens"]
            more = {} if step is None else {"batched_tokens": step}
            one = kvcache.capacity(layout, memory, tokens, engine, block_size, **more)
            fits = one.request_blocks <= one.blocks
        else:
            step = 512 if setting["batched_tokens"] is None else setting["batched_tokens"]
            settings = {"sequences": setting["sequences"], "batched_tokens": step}
            one = kvcache.allocation(layout, tokens, engine, block_size=block_size, **settings)
            fits = one.total <= exact(memory)
        assert fits == expected


def shaped(result: attention.Shape, **sizes: Any) -> None:
    """Check that sizes are kept as integers, and the weights are those of the matrices."""
    assert all(getattr(result, name) == exact(size) for name, size in sizes.items())
    assert all(isinstance(getattr(result, name), int) for name in sizes)
    width, keys = result.heads * result.head_width, result.kv_heads * result.head_width
    assert (result.width, result.kv_width) == (width, keys)
    assert result.heads % result.kv_heads == 0
    matrices = [width * width] * 2 + [width * keys] * 2 + [width * result.mlp_width] * 2
    assert result.layer_weights == result.layers * sum(matrices)


def decoder(result: attention.Model, shape: attention.Shape, seed: Any) -> None:
    """Check that the weights are finite, as many as the shape says, and the seed's own."""
    matrices = [matrix for layer in result.layers for matrix in vars(layer).values()]
    assert result.shape == shape and len(result.layers) == shape.layers
    assert sum(matrix.size for matrix in matrices) == shape.layer_weights
    assert all(np.all(np.isfinite(matrix)) for matrix in [*matrices, result.choice])
    again = attention.random_model(shape, seed)
    np.testing.assert_array_equal(again.layers[-1].down, result.layers[-1].down)
    if shape.layer_weights > 2:
        other = attention.random_model(shape, int(exact(seed)) + 1)
        assert not np.array_equal(other.layers[-1].down, result.layers[-1].down)


def generated(result: Any, model: attention.Model, prompt: Any, count: Any, keep: str) -> None:
    """Check that each token is the likeliest, and the work, term by term."""
    shape, count = model.shape, int(exact(count))
    first = len(list(prompt))
    assert result.tokens.shape == (count,) and np.all(np.isfinite(result.logits))
    np.testing.assert_array_equal(result.tokens, result.logits.argmax(axis=1))
    np.testing.assert_array_equal(result.lengths, first + np.arange(count))
    for step, tokens in enumerate(result.lengths.tolist()):
        new = range(tokens) if step == 0 else range(tokens - 1, tokens)
        old = range(tokens - 1) if step and keep == "nothing" else range(0)
        for which, rows in [("", new), (" again", old)]:
            scores = sum(2 * shape.layers * shape.width * (row + 1) for row in rows)
            assert result.work["attention" + which][step] == scores
            matrices = 2 * shape.layers * shape.width * shape.mlp_width * len(rows)
            assert result.work["MLP" + which][step] == matrices
        width, keys = shape.width, shape.kv_width
        each = 2 * shape.layers * width * (width + keys)
        again = {"nothing": each, "inputs": 2 * shape.layers * width * keys}.get(keep, 0)
        assert result.work["projections"][step] == each * len(new)
        assert result.work["projections again"][step] == again * (tokens - 1 if step else 0)
        held = {"keys and values": 2 * keys, "inputs": width, "nothing": 0}[keep]
        assert result.kept_bytes[step] == 8 * shape.layers * held * tokens
    assert result.kept_bytes[-1] == sum(rows.nbytes for layer in result.kept for rows in layer)


def kept(result: Any, **arguments: Any) -> None:
    """Check that a description keeps its numbers."""
    for name, value in arguments.items():
        found = getattr(result, name)
        if isinstance(value, bool):
            value = int(value)
        assert found == value if value == math.inf else found in (exact(value), float(value))
    assert hash(result) == hash(type(result)(**arguments))


def factors(result: Any, values: Any) -> None:
    """Check that measured times are scaled to a mean of 1, in proportion."""
    scaled = [exact(x) for x in result.values]
    assert_near(float(sum(scaled) / len(scaled)), Fraction(1))
    for one, other in zip(scaled, map(exact, values), strict=True):
        assert_near(one, other * len(scaled) / sum(map(exact, values)))


def described(result: Any, **arguments: Any) -> None:
    """Check that a description keeps what it was given."""
    assert all(getattr(result, name) == value for name, value in arguments.items())
    assert result == type(result)(**arguments)


def waste(result: Any, input_tokens: Any, output_tokens: Any, allocator: Any) -> None:
    """Check that shares are a whole, and the bounds of each way to set memory aside."""
    parts = list(result)
    assert all(0 <= part <= 1 for part in parts) and result.used > 0
    assert_near(sum(parts), Fraction(1))
    if isinstance(allocator, paging.Paged):
        assert result.external == 0
        steps = sum(exact(o) for o in output_tokens)
        pairs = zip(map(exact, input_tokens), map(exact, output_tokens), strict=True)
        used = sum(s * o + o * (o + 1) / 2 for s, o in pairs)
        least = used / (used + steps * (exact(allocator.block_size) - 1))
        assert exact(result.used) >= least * (1 - RELATIVE)  # under one block a sequence
    elif allocator.room == "exact":
        assert result.internal == 0
        assert result.external < 0.5  # a power of two is less than twice what it is for


def pooled(
    result: Any, input_tokens: Any, output_tokens: Any, allocator: Any, pool: Any, arrivals: Any
) -> None:
    """Check that every step's parts are the pool, and that every token is written once."""
    parts = [result.used, result.ahead, result.internal, result.rounding, result.free]
    assert all((part >= 0).all() for part in parts)
    assert (np.sum(parts, axis=0) == int(exact(pool))).all()
    assert result.running.sum() == sum(int(exact(x)) for x in output_tokens)
    assert result.running[-1] > 0 and result.waiting[-1] == 0
    assert (result.preempted > 0) == (result.recomputed > 0)
    assert result.preempted == 0 or isinstance(allocator, paging.Paged)
    assert 0 <= result.mean_running <= len(input_tokens)


def shared_blocks(result: int, lengths: Any, prefix: Any, block_size: Any) -> None:
    """Check that sharing saves the full blocks of the prefix in all sequences but one."""
    size = exact(block_size)
    apart = sum(math.ceil(exact(row) / size) for row in lengths)
    saved = max(0, len(lengths) - 1) * math.floor(exact(prefix) / size)
    assert isinstance(result, int) and result == apart - saved


def counts(result: Any, self: Any, window: Any) -> None:
    """Check that every arrival before the last whole window is counted once."""
    times = self.times
    assert len(result) == int(times[-1] / float(window))
    assert result.sum() == sum(int(time / float(window)) < len(result) for time in times)
    first = sum(int(time / float(window)) == 0 for time in times)
    assert result[0] == first and (result >= 0).all()


def dispersion(result: float, self: Any, window: Any, differences: Any) -> None:
    """Check the variance over the mean of counts in whole windows."""
    trace = getattr(self, "trace", self)
    if trace.times[-1] / float(window) > 1e5:
        assert result > 0
        return
    numbers = trace.counts(window).tolist()
    mean = Fraction(sum(numbers), len(numbers))
    if not differences:
        assert_near(result, sum((n - mean) ** 2 for n in numbers) / len(numbers) / mean)
        return
    signs = [(-1) ** k * math.comb(int(differences), k) for k in range(int(differences) + 1)]
    rows = zip(*(numbers[k:] for k in range(len(signs))), strict=False)
    squares = [sum(x * y for x, y in zip(row, signs, strict=True)) ** 2 for row in rows]
    scale = sum(sign**2 for sign in signs)
    assert_near(result, Fraction(sum(squares), len(squares) * scale) / mean)


def blocks(result: Any, trace: Any, cell: Any, penalty: Any) -> None:
    """Check that blocks cover the trace, hold its requests, and are worth their price."""
    edges, requests = result
    assert edges[0] == 0 and edges[-1] == trace.times[-1] and (np.diff(edges) > 0).all()
    assert requests.sum() == len(trace.times) and (requests >= 0).all()
    whole = requests.sum() * math.log(requests.sum() / edges[-1])
    some = requests > 0
    cut = requests[some] @ np.log(requests[some] / np.diff(edges)[some])
    assert cut - whole >= (len(requests) - 1) * float(penalty) - 1e-9


def fitted(result: Any, trace: Any, periods: Any, **others: Any) -> None:
    """Check that a recipe keeps what can be counted."""
    blocks((result.edges, result.requests), trace, others["cell"], others["penalty"])
    assert result.pairs.shape[0] == periods and result.pairs.sum() == len(trace.times)
    for quantiles, lengths in (
        (result.inputs, trace.input_tokens),
        (result.outputs, trace.output_tokens),
    ):
        assert (quantiles[0], quantiles[-1]) == (lengths.min(), lengths.max())
    assert result.measured["requests"] == len(trace.times)


def synthesised(result: Any, recipe: Any, seed: Any) -> None:
    """Check that a trace starts at 0, ends in time and has lengths of the recipe."""
    assert result.times[0] == 0 and (np.diff(result.times) >= 0).all()
    assert result.times[-1] <= recipe.edges[-1]
    for quantiles, lengths in (
        (recipe.inputs, result.input_tokens),
        (recipe.outputs, result.output_tokens),
    ):
        assert len(lengths) == len(result.times)
        assert quantiles[0] <= lengths.min() and lengths.max() <= quantiles[-1]


def checked(result: Any, arrivals: Any, piece: Any) -> None:
    """Check that there are five verdicts, and each is a probability."""
    assert len(result) == len({verdict.name for verdict in result}) == 5
    for verdict in result:
        assert 0 <= verdict.p_value <= 1 and math.isfinite(verdict.statistic)


def quantile(result: float, self: Any, q: Any) -> None:
    """Check that a quantile is a response, and that quantiles rise."""
    assert self.quantile(0) <= result <= self.quantile(1)
    assert self.quantile(float(q) / 2) <= result


def interval(result: tuple[float, float], self: Any, what: Any, level: Any) -> None:
    """Check that an interval holds its result, and grows with the level."""
    low, high = result
    found = getattr(self, what) if isinstance(what, str) else self.quantile(what)
    assert 0 <= low <= found * (1 + RELATIVE_FLOAT) and found * (1 - RELATIVE_FLOAT) <= high
    inner = self.interval(what, max(float(level) / 2, 5e-324))
    assert low <= inner[0] and inner[1] <= high < math.inf


def queue_simulated(result: Any, **arguments: Any) -> None:
    """Check what holds of every run: bounds, who was served, and how long service takes."""
    policy, service, workers = (arguments[name] for name in ("policy", "service", "workers"))
    fixed = isinstance(policy, policies.Fixed)
    size = policy.batch if fixed else policy.max_batch
    assert 1 <= result.mean_batch <= size and (not fixed or result.mean_batch == size)
    assert 0 <= result.busy <= 1 and 0 <= result.loss < 1 and result.workers == exact(workers)
    assert arguments["buffer"] is not None or result.loss == 0
    least, middle, largest = map(result.quantile, (0, 0.5, 1))
    assert 0 <= least <= middle <= largest < math.inf
    lost = 1e-12 * service.time(1)
    assert least * (1 - 1e-4) - lost <= result.mean <= largest * (1 + 1e-4) + lost
    assert 0 <= result.std <= (largest - least) / 2 + 1e-4 * largest + 1e-7 * service.time(1)
    if arguments["noise"] is None:
        assert least >= service.time(1) * (1 - 1e-6)


def shared(result: engine.Continuous, arrival_rate: Any, output_tokens: Any, **others: Any) -> None:
    """Check the balance of neighbouring states, that shares add up, and Little's law."""
    law, most = result.pi, result.slots or math.inf
    assert abs(law.sum() - 1) < 1e-9 and law.min() >= 0 and 0 < result.busy <= 1
    work = result.arrival_rate * result.output_tokens
    for n in range(1, min(law.size - 1, 9)):  # the last state holds all beyond
        assert math.isclose(law[n] * n, work * result._steps.time(n) * law[n - 1], abs_tol=1e-290)
    assert result.mean_running <= most and result.arrival_rate < result.capacity
    assert 0 <= result.full <= 1 and result.mean_wait >= 0
    running = result.mean - result.mean_wait
    assert math.isclose(result.mean_running, running * result.arrival_rate, rel_tol=1e-6)


def running_quantile(result: int, self: engine.Continuous, q: Any) -> None:
    """Check that so many are enough, and one fewer is not."""
    below = np.cumsum(self.pi)
    assert below[min(result, below.size - 1)] >= float(q) - 1e-12
    assert result == 0 or below[result - 1] < float(q)


def enough_slots(
    result: int, arrival_rate: Any, output_tokens: Any, step_times: Any, excess: Any
) -> None:
    """Check that so many are enough, and one fewer is not."""
    arguments = (arrival_rate, output_tokens, step_times)
    allowed = (1 + float(excess)) * engine.Continuous(*arguments).mean
    assert engine.Continuous(*arguments, result).mean <= allowed * (1 + RELATIVE_FLOAT)
    if result > 1:
        try:
            fewer = engine.Continuous(*arguments, result - 1).mean
        except ValueError:  # too few, or so few that the load is next to capacity
            return
        assert fewer > allowed * (1 - RELATIVE_FLOAT)


def longest(result: float, output_tokens: Any, batch: Any) -> None:
    """Check that the longest is no shorter than the mean, nor longer than all together."""
    if isinstance(output_tokens, engine.Pairs):
        mean = float(np.mean(output_tokens.outputs))
    else:
        mean = float(getattr(output_tokens, "mean", output_tokens))
    assert mean * (1 - 1e-6) <= result <= mean * float(batch) * (1 + 1e-6)


def engine_run(result: engine.Run, **arguments: Any) -> None:
    """Check what holds of every run: bounds, and times in order."""
    assert 0 <= result.busy <= 1 and 0 <= result.met <= 1
    assert 0 <= result.goodput <= result.throughput * (1 + RELATIVE_FLOAT) < math.inf
    assert result.response.count > 0 and result.steps > 0
    slots, blocks = arguments["slots"], arguments["blocks"]
    assert slots is None or result.mean_running <= float(slots) * (1 + RELATIVE_FLOAT)
    assert blocks is None or result.mean_blocks <= float(blocks) * (1 + RELATIVE_FLOAT)
    least, middle, largest = map(result.response.quantile, (0, 0.5, 1))
    assert 0 <= least <= middle <= largest < math.inf
    assert least * (1 - 1e-4) <= result.response.mean <= largest * (1 + 1e-4)


def run_interval(result: tuple[float, float], self: engine.Run, what: Any, level: Any) -> None:
    """Check that an interval holds its result."""
    low, high = result
    found = getattr(self, what)
    assert 0 <= low <= found * (1 + RELATIVE_FLOAT) and found * (1 - RELATIVE_FLOAT) <= high


def lengths(result: Any, prompts: Any, outputs: Any, ordered: Any) -> None:
    """Check that measured pairs are kept."""
    assert result.prompts.tolist() == [int(exact(x)) for x in prompts]
    assert result.outputs.tolist() == [int(exact(x)) for x in outputs]
    assert result.ordered == ordered


def decide(
    result: Any,
    arrival_rate: Any,
    service: LinearService,
    slo: Any,
    max_batch: Any,
    percentiles: Any,
    **others: Any,
) -> None:
    """Check each step: stability, candidates, choices that are what they are called, a policy."""
    assert reaches(result.least, arrival_rate, service, 1)
    assert result.least == 1 or not reaches(result.least - 1, arrival_rate, service, 1)
    sizes, cap = result.batches.tolist(), int(exact(max_batch))
    room = Fraction(99_999, 100_000)
    expected = [b for b in range(1, cap + 1) if reaches(b, arrival_rate, service, room)]
    measured = {int(exact(size)): float(exact(time)) for size, time in dict(percentiles).items()}
    assert sizes == [b for b in expected if b in measured or not measured]
    t_fixed, t_req = parts(service)
    for size, load, mean in zip(sizes, result.utilization, result.mean, strict=True):
        assert_near(load, exact(arrival_rate) * (t_fixed + t_req * size) / size)
        assert math.isfinite(mean) and mean >= float(t_fixed + t_req * size) * (1 - RELATIVE_FLOAT)
    if measured:
        assert result.tail.tolist() == [measured[size] for size in sizes]
    limit = float(exact(slo))
    assert result.feasible.tolist() == [bool(tail <= limit) for tail in result.tail]
    inside = [pair for pair, f in zip(zip(result.mean, sizes), result.feasible) if f]  # noqa: B905
    assert (result.fastest is None) == (result.largest is None) == (not inside)
    if inside:
        assert (result.fastest, result.largest) == (min(inside)[1], max(b for _, b in inside))
    means = {policies.Fixed(b): mean for mean, b in inside}
    if result.greedy_tail <= limit:
        means[policies.Greedy(cap)] = result.greedy.mean
    assert result.enough == min(result.greedy_tail, result.tail.min())
    assert (result.policy is None) == (result.enough > limit) == (not means)
    if means:
        assert means[result.policy] <= min(means.values()) * (1 + 1e-9)
    for rule in result.rules.values():
        assert rule.feasible.tolist() == [bool(tail <= limit) for tail in rule.tail]
        assert np.all(rule.tail >= 0) and "rule of thumb" in rule.condition


def advice(
    result: Any, arrival_rate: Any, batch: Any, service: LinearService, slo: Any, tail: Any
) -> None:
    """Check which rows apply, by the load in exact arithmetic."""
    t_fixed, t_req = parts(service)
    load = exact(arrival_rate) * (t_fixed + t_req * exact(batch)) / exact(batch)
    late = tail == math.inf or exact(tail) > exact(slo)
    applies = [load >= 1, late, load < Fraction(1, 2), load > Fraction(85, 100)]
    names = ["B < B_min", "T_P99 > SLO", "ρ < 0.5", "ρ > 0.85"]
    found = [row.condition for row in result]
    if tail == math.inf or abs(exact(tail) - exact(slo)) > RELATIVE * exact(slo):
        assert found == [name for name, holds in zip(names, applies, strict=True) if holds]


def pareto(result: Any, throughput: Any, latency: Any) -> None:
    """Check every pair of points."""
    points = [(float(exact(x)), float(exact(y))) for x, y in zip(throughput, latency, strict=True)]
    for kept, (x, y) in zip(result, points, strict=True):
        assert kept == (not any(a >= x and b <= y and (a > x or b < y) for a, b in points))


def knee(result: Any, batches: Any, throughput: Any) -> None:
    """Check that no point lies farther above the chord, in binary fractions."""
    x, y = ([Fraction(float(exact(value))) for value in row] for row in (batches, throughput))
    above = [
        (b - y[0]) / (y[-1] - y[0]) - (a - x[0]) / (x[-1] - x[0]) for a, b in zip(x, y, strict=True)
    ]
    place = x.index(Fraction(result))
    assert above[place] >= max(above) - RELATIVE and above[place] > 0


def crossing(result: Any, batches: Any, latency: Any, limit: Any) -> None:
    """Check that the line reaches the limit there, and that all later points are over it."""
    x, y = ([Fraction(float(exact(value))) for value in row] for row in (batches, latency))
    most = Fraction(float(exact(limit)))
    low = max(place for place, time in enumerate(y) if time <= most)
    assert low < len(y) - 1
    expected = x[low] + (most - y[low]) / (y[low + 1] - y[low]) * (x[low + 1] - x[low])
    assert_near(result, expected)


def fixed_batches(queue: Any, arrival_rate: Any, batch: Any, service: Any, workers: Any) -> None:
    """Check parts and bounds of the response times in fixed batches."""
    t_fixed, t_req = parts(service)
    rate, size, busy = exact(arrival_rate), exact(batch), t_fixed + t_req * exact(batch)
    load = rate * busy / (size * exact(workers))
    assert load < 1
    assert_near(queue.busy, load)
    assert_near(queue.mean, busy + (size - 1) / (2 * rate) + exact(queue.mean_wait))
    # Kingman's bound: Erlang gaps of mean 1 / rate times the size, constant service.
    assert 0 <= queue.mean_wait <= (1 + 1e-9) * float(1 / (2 * rate * (1 - load)))
    if size * exact(workers) <= 4096:
        law(queue, float(busy))


def greedy(queue: Any, arrival_rate: Any, max_batch: Any, service: Any, buffer: Any) -> None:
    """Check the balance of work and of requests, and bounds of the response times."""
    t_fixed, t_req = parts(service)
    rate, size = exact(arrival_rate), exact(max_batch)
    shares = queue.batches
    assert np.all(shares >= 0) and math.isclose(shares.sum(), 1, rel_tol=1e-9)
    assert 1 - RELATIVE <= queue.mean_batch <= size * (1 + RELATIVE)
    served = float(rate) * (1 - queue.loss)
    assert 0 <= queue.loss <= 1 and 0 <= queue.busy <= 1
    work = float(t_fixed) / queue.mean_batch + float(t_req)  # of each request that is served
    assert math.isclose(queue.busy, served * work, rel_tol=1e-7) or queue.loss > 1 - 1e-7
    if buffer is None:
        assert queue.loss == 0
    if size <= 96:  # quantiles of large batches take seconds
        law(queue, float(t_fixed + t_req))


def law(queue: Any, least: float) -> None:
    """Check that quantiles and probabilities of a response time belong together."""
    assert queue.mean >= least * (1 - 1e-12) and math.isfinite(queue.std)
    median, late = queue.quantile(0.5), queue.quantile(0.99)
    assert least * (1 - 1e-12) <= median <= late
    if queue.std > 1e-6 * queue.mean:  # else the quantile's last digits move the probability
        assert queue.sf(late) <= 0.01 + 1e-6 <= queue.sf(late * (1 - 1e-5)) + 1e-4 or late <= least
    assert abs(queue.mean - median) <= (1 + 1e-6) * queue.std + 1e-9 * queue.mean
    assert math.isclose(queue.sf(least * (1 - 1e-9)), 1) or least < 1e-300


def fleet_simulated(result: Any, **arguments: Any) -> None:
    """Check what holds of every fleet: bounds, Little's law and the order of shares."""
    unit, replicas = float(exact(arguments["service_time"])), int(exact(arguments["replicas"]))
    assert result.workers == replicas and 0 <= result.busy <= 1 and result.loss == 0
    assert 0 <= result.hedged <= 1.5  # copies of the part before are among them
    assert result.hedged == 0 or arguments["hedge"] is not None
    least, middle, largest = map(result.quantile, (0, 0.5, 1))
    assert 0 <= least <= middle <= largest < math.inf
    assert least * (1 - 1e-4) <= result.mean + 1e-12 * unit <= largest * (1 + 1e-4) + 2e-12 * unit
    if arguments["noise"] is None:
        assert least >= unit * (1 - 1e-6)
    shares = result.lengths
    assert shares[0] == 1 and np.all(np.diff(shares) <= 0) and shares.size == 64


def choices_response(result: float, utilization: Any, choices: Any) -> None:
    """Check the sum with 50 digits, and that looking at more replicas helps."""
    share, drawn = exact(utilization), int(exact(choices))
    assert 1 <= result and exact(result) <= (1 + RELATIVE) / (1 - share)
    if drawn > 1:
        with mpmath.workdps(50):
            rho = mpmath.mpf(share.numerator) / share.denominator
            size, terms = mpmath.log(rho), []
            while not terms or terms[-1] > 1e-20:
                exponent = sum(drawn**k for k in range(1, len(terms) + 1))
                terms.append(mpmath.exp(exponent * size))
            close(result, mpmath.fsum(terms))


def round_robin(result: Any, arrival_rate: Any, service_rate: Any, replicas: Any) -> None:
    """Check the equation of the share that waits, and Little's law."""
    arriving, served, count = exact(arrival_rate), exact(service_rate), int(exact(replicas))
    share = exact(result.delay_probability)
    assert arriving < served * count and 0 <= share < 1
    long_run(result, arriving, 1 / served, share / (1 - share) / served, count)
    with mpmath.workdps(50):
        rate = mpmath.mpf(arriving.numerator) / arriving.denominator
        rate *= mpmath.mpf(served.denominator) / served.numerator
        x = mpmath.mpf(share.numerator) / share.denominator
        found = (1 + (1 - x) / rate) ** -count
        assert abs(found - x) <= 1e-9 * max(x, 1e-290) * (1 + count / rate)


def priorities(
    result: Any, arrival_rates: Any, service_means: Any, service_second_moments: Any, **_: Any
) -> None:
    """Check that the work of all classes is conserved if nobody is interrupted, and bounds."""
    rows = (arrival_rates, service_means, service_second_moments)
    rates, times, squares = ([exact(float(x)) for x in row] for row in rows)
    assert len(result.loads) == len(rates)
    total = sum(rate * time for rate, time in zip(rates, times, strict=True))
    left = sum(rate * square for rate, square in zip(rates, squares, strict=True)) / 2
    assert total < 1 and np.all(result.mean_wait >= 0)
    for wait, response, time in zip(result.mean_wait, result.mean_response, times, strict=True):
        assert_near(response, exact(float(wait)) + time)
    if not _.get("preemptive"):
        rows = zip(rates, times, result.mean_wait, strict=True)
        work = sum(rate * time * exact(float(wait)) for rate, time, wait in rows)
        assert_near(float(work), total * left / (1 - total))


def shortest(
    result: Any, arrival_rate: Any, service_mean: Any, service_cv: Any, foresight: Any = 1
) -> None:
    """Check that no order waits longer than first come, and none shorter than the bound."""
    load, mean = exact(arrival_rate) * exact(service_mean), exact(service_mean)
    variation = exact(service_cv)
    assert load < 1
    first = float(mean + mean * load * (1 + variation**2) / 2 / (1 - load))
    assert float(mean) * (1 - 1e-9) <= result.mean_response <= first * (1 + 1e-6)
    assert result.mean_slowdown >= 1 - 1e-9
    if foresight == 0:
        assert math.isclose(result.mean_response, first, rel_tol=1e-6)


def of_size(result: float, self: Any, q: Any) -> None:
    """Check that larger requests take longer."""
    assert 0 < result < math.inf
    assert self.response(float(q) / 2 + 5e-7) <= self.response(q) * (1 + 1e-9)


def slowdown(result: float, self: Any, q: Any) -> None:
    """Check that nobody is faster than alone."""
    assert 1 - 1e-9 <= result < math.inf and self.response(q) > 0


def machine(result: roofline.Machine, **arguments: Any) -> None:
    """Check that a machine keeps its numbers, and that shares scale its rates."""
    for name, value in arguments.items():
        assert getattr(result, name) == value
    assert result.bandwidth <= result.accelerator.bandwidth
    assert result.peak <= max(result.accelerator.peak.values())
    assert result.layout.tensor_parallel == result.devices


def step(result: roofline.Step, batch: Any, tokens: Any, **machine: Any) -> None:
    """Check a step on one device, part by part."""
    length = int(exact(tokens))
    _parts(result, batch, 1, 1, length, length, **machine)


def passed(result: roofline.Step, batch: Any, tokens: Any, **machine: Any) -> None:
    """Check a pass over prompts on one device, part by part."""
    length = int(exact(tokens))
    _parts(result, batch, 1, length, length, length * (length + 1) // 2, **machine)


def _parts(
    result: roofline.Step,
    batch: Any,
    passes: int,
    new: int,
    held: int,
    met: int,
    model: Any,
    accelerator: Any,
) -> None:
    """Check passes with so many tokens of a sequence that are new, held and met in all of them."""
    layers, width = model.config["num_hidden_layers"], model.config["hidden_size"]
    heads = model.config["num_attention_heads"]
    kept = 4 * layers * width * model.config.get("num_key_value_heads", heads) / heads
    speed, memory = accelerator.peak["fp16"], accelerator.bandwidth
    size = np.asarray(batch, dtype=float)
    expected = {
        "read_weights": passes * 2 * model.parameters / memory + 0 * size,
        "matmul": 2 * model.parameters * new / speed * size,
        "read_cache": kept * held / memory * size,
        "attention": 4 * layers * width * met / speed * size,
        "traffic": 0 * size,
    }
    for name, seconds in expected.items():
        np.testing.assert_allclose(getattr(result, name), seconds, rtol=1e-9)
    assert np.all(result.overlapped <= result.total * (1 + 1e-12))
    assert np.all(result.total <= result.memory + result.compute)
    assert set(np.atleast_1d(result.bound)) <= {"memory", "compute", "traffic"}


def answered(
    result: roofline.Answers, batch: Any, input_tokens: Any, output_tokens: Any, **machine: Any
) -> None:
    """Check that prompts come first, and that steps add up."""
    passed(result.prefill, batch, input_tokens, **machine)
    steps = int(exact(output_tokens)) - 1
    tokens = sum(int(exact(input_tokens)) + n for n in range(1, steps + 1))
    _parts(result.decode, batch, steps, steps, tokens, tokens, **machine)
    np.testing.assert_allclose(result.total, result.prefill.total + result.decode.total)


def derived(result: roofline.DerivedService, **arguments: Any) -> None:
    """Check that the line is the least time between its ends, and below it elsewhere."""
    assert 1 <= result.first_batch <= result.last_batch
    inside = [result.first_batch, min(result.last_batch, 1000 * result.first_batch)]
    for batch in [1, *inside, 2 * inside[1]]:
        least = roofline.answers(batch=batch, **arguments).total
        assert result.time(batch) <= least * (1 + 1e-9)
        if batch in inside:
            assert math.isclose(result.time(batch), least, rel_tol=1e-9)


def asked(result: constraint.Question, **arguments: Any) -> None:
    """Check that what fits does, with weights beside it, and that one more does not."""
    for name, value in arguments.items():
        assert getattr(result, name) == value
    each = result.machine.layout.sequence_bytes(result.tokens + -result.tokens % 16)
    assert result.most * each <= result.budget.cache < (result.most + 1) * each


def region(result: constraint.Region, question: Any, max_batch: Any) -> None:
    """Check each size alone, and that the words name what is feasible."""
    assert result.batches.tolist() == list(range(1, int(exact(max_batch)) + 1))
    for size, stable, fits, timely, time in zip(
        result.batches.tolist(),
        result.stable,
        result.fits,
        result.timely,
        result.response,
        strict=True,
    ):
        alone = size if question.policy == "fixed" else 1
        least, whole = _question.times(question, np.array([alone, size])).tolist()
        assert stable == (_question.load(question, size, whole) < 1) and (stable or np.isinf(time))
        assert fits == (size <= question.most) and time >= least * (1 - 1e-9)
        assert timely == (time <= question.slo)
        assert (size in result.feasible) == (stable and fits and timely)
    assert (result.best is None) == (not result.feasible.size)
    assert result.reason.startswith("B = ") == bool(result.feasible.size)
    assert set(result.binds) <= set(constraint.CONDITIONS)


def largest(result: float, question: Any, max_batch: Any) -> None:
    """Check that the rate is possible, and that a larger one is not."""
    most = int(exact(max_batch))
    if result:
        least = replace(question, arrival_rate=result * (1 - 1e-9))
        assert constraint.region(least, most).feasible.size
    beyond = replace(question, arrival_rate=1.01 * result or 1e-3)
    assert not constraint.region(beyond, most).feasible.size


def speculator(result: Any, **arguments: Any) -> None:
    """Check that times and chances are kept."""
    for name, value in arguments.items():
        given = np.ravel(value) if name == "acceptance" else [value]
        assert [float(x) for x in np.ravel(getattr(result, name))] == [float(x) for x in given]


def token_time(self: Any, depth: int, running: int) -> Fraction:
    """Time of a step over its tokens, which are added up place by place."""
    time = exact(self.step_fixed) + depth * exact(self.draft_token_time)
    time += exact(self.step_per_sequence) * running * (1 + depth * exact(self.repeat_share))
    yields = [sum(exact(chance) ** j for j in range(depth + 1)) for chance in self.acceptance]
    return time * sum(1 / one for one in yields) / len(yields)


def depths(result: Any, self: Any, running: Any, deepest: Any) -> None:
    """Check that no other depth is faster, for some numbers of sequences."""
    assert result.shape == (int(exact(running)),)
    for size in sorted({1, len(result) // 2 + 1, len(result)}):
        times = [token_time(self, depth, size) for depth in range(int(exact(deepest)) + 1)]
        assert times[result[size - 1]] <= min(times) * (1 + RELATIVE)


def speculating(
    result: float, self: Any, arrival_rate: Any, output_tokens: Any, depths: Any
) -> None:
    """Check the response against the closed form, and plans against those of their ends."""
    rate, answer = exact(arrival_rate), exact(output_tokens)
    plan = [int(exact(depth)) for depth in np.ravel(depths).tolist()]
    alone = [token_time(self, depth, 1) for depth in set(plan)]
    assert float(result) >= float(answer * min(alone)) * (1 - 1e-9)
    if len(set(plan)) == 1:
        slope = token_time(self, plan[0], 2) - alone[0]
        expected = answer * alone[0] / (1 - rate * answer * slope)
        room = 1 - rate * answer * slope  # near capacity the last digits of the load count
        assert abs(exact(result) - expected) <= expected * (RELATIVE + Fraction(1, 10**13) / room)


def played(result: Any, speculator: Any, output_tokens: Any, depths: Any, **others: Any) -> None:
    """Check what cannot be otherwise: counts, and the least time an answer takes."""
    most = max(int(exact(depth)) for depth in np.ravel(depths).tolist())
    assert result.requests == int(exact(others["requests"])) // 32 * 30
    assert 1 <= result.mean_yield <= most + 1 and result.mean_running > 0
    assert result.half_width >= 0 and result.mean >= speculator.step_fixed
    if not others["geometric"]:
        steps = -(-math.ceil(output_tokens) // (most + 1))
        assert result.mean >= steps * speculator.step_fixed * (1 - 1e-9)


INVARIANTS: dict[str, Callable[..., None]] = {
    "serving.service.LinearService": made,
    "serving.service.LinearService.time": time,
    "serving.service.LinearService.rate": rate,
    "serving.service.LinearService.min_batch": min_batch,
    "serving.service.LinearService.fit": fit,
    "serving.measurements.diagnose": diagnosis,
    "serving.measurements.Diagnosis.reach": reach,
    "serving.measurements.load": loaded,
    "serving.measurements.rank_interval": ranks,
    "serving.measurements.supports": supported,
    "serving.surrogate.response": response,
    "serving.surrogate.optimum": optimum,
    "serving.queues.departures": departures,
    "serving.window.form": window,
    "serving.exact.FixedBatchQueue": fixed_batches,
    "serving.exact.GreedyQueue": greedy,
    "serving.queues.mm1": mm1,
    "serving.queues.mg1": mg1,
    "serving.queues.erlang_b": erlang_b,
    "serving.queues.erlang_c": erlang_c,
    "serving.queues.halfin_whitt": halfin_whitt,
    "serving.queues.least_servers": least_servers,
    "serving.queues.mmc": mmc,
    "serving.queues.mdc": mdc,
    "serving.queues.mmck": mmck,
    "serving.queues.mgc": mgc,
    "serving.queues.gamma_transform": gamma_transform,
    "serving.kvcache.dimensions": dimensions,
    "serving.kvcache.layout": layout,
    "serving.kvcache.Layout.sequence_bytes": sequence_bytes,
    "serving.kvcache.Layout.max_sequences": max_sequences,
    "serving.kvcache.memory_budget": memory_budget,
    "serving.kvcache.capacity": capacity,
    "serving.kvcache.allocation": allocation,
    "serving.kvcache.longest_context": longest_context,
    "serving.attention.Shape": shaped,
    "serving.attention.random_model": decoder,
    "serving.attention.generate": generated,
    "serving.policies.Fixed": kept,
    "serving.policies.Greedy": kept,
    "serving.policies.Window": kept,
    "serving.paging.Contiguous": described,
    "serving.paging.Paged": described,
    "serving.paging.waste": waste,
    "serving.paging.simulate": pooled,
    "serving.paging.shared_blocks": shared_blocks,
    "serving.traces.Trace.counts": counts,
    "serving.traces.Trace.dispersion": dispersion,
    "serving.traces.Summary.dispersion": dispersion,
    "serving.traffic.blocks": blocks,
    "serving.traffic.fit": fitted,
    "serving.traffic.synthesise": synthesised,
    "serving.poisson.check": checked,
    "serving.simulation.Erlang": kept,
    "serving.simulation.Hyperexponential": kept,
    "serving.simulation.Bursty": kept,
    "serving.simulation.Gamma": kept,
    "serving.simulation.LogNormal": kept,
    "serving.simulation.Empirical": factors,
    "serving.simulation.Simulation.quantile": quantile,
    "serving.simulation.Simulation.interval": interval,
    "serving.simulation.simulate": queue_simulated,
    "serving.engine.Continuous": shared,
    "serving.engine.Continuous.running_quantile": running_quantile,
    "serving.engine.enough_slots": enough_slots,
    "serving.engine.longest": longest,
    "serving.engine.Geometric": described,
    "serving.engine.LogNormal": described,
    "serving.engine.Chunked": described,
    "serving.engine.Whole": described,
    "serving.engine.Pairs": lengths,
    "serving.engine.simulate": engine_run,
    "serving.engine.Times.quantile": quantile,
    "serving.engine.Times.interval": interval,
    "serving.engine.Run.interval": run_interval,
    "serving.decision.decide": decide,
    "serving.advice.advice": advice,
    "serving.tradeoff.pareto": pareto,
    "serving.tradeoff.knee": knee,
    "serving.tradeoff.crossing": crossing,
    "serving.fleet.simulate": fleet_simulated,
    "serving.fleet.choices_response": choices_response,
    "serving.fleet.round_robin": round_robin,
    "serving.queues.priorities": priorities,
    "serving.queues.shortest_first": shortest,
    "serving.queues.srpt": shortest,
    "serving.queues.Ordered.response": of_size,
    "serving.queues.Ordered.slowdown": slowdown,
    "serving.roofline.Machine": machine,
    "serving.roofline.decode_step": step,
    "serving.roofline.prefill": passed,
    "serving.roofline.answers": answered,
    "serving.roofline.service": derived,
    "serving.constraint.Question": asked,
    "serving.constraint.region": region,
    "serving.constraint.largest_rate": largest,
    "serving.speculation.Speculator": speculator,
    "serving.speculation.Speculator.depths": depths,
    "serving.speculation.Speculator.response": speculating,
    "serving.speculation.play": played,
}
"""Checks by the full name of the function; each gets the result and the arguments."""


def unstable(error: UnstableError, arguments: dict[str, Any]) -> None:
    """Check that what was called unstable is: no batch reaches the target, or not this one."""
    if "depths" in arguments:
        engine = arguments.get("speculator", arguments.get("self"))
        last = int(exact(np.ravel(arguments["depths"]).tolist()[-1]))
        slope = token_time(engine, last, 2) - token_time(engine, last, 1)
        load = exact(arguments["arrival_rate"]) * exact(arguments["output_tokens"]) * slope
        assert load >= 1 - RELATIVE and "requests/s" in str(error)
        return
    servers = exact(arguments.get("servers", arguments.get("replicas", 1)))
    if "step_times" in arguments:
        assert "would be enough" in str(error) and arguments["arrival_rate"] is not None
        return
    if "arrival_rates" in arguments:
        pairs = zip(arguments["arrival_rates"], arguments["service_means"], strict=True)
        assert sum(exact(float(rate)) * exact(float(time)) for rate, time in pairs) >= 1
        return
    if arguments.get("hedge") is not None:
        servers /= 2  # copies may double the load, and a little more in a short run
        servers *= Fraction(3, 4)
    for name in ("load", "utilization"):
        if name in arguments and "service" not in arguments and "self" not in arguments:
            assert exact(arguments[name]) >= servers
            return
    if "service_rate" in arguments:
        assert exact(arguments["arrival_rate"]) >= exact(arguments["service_rate"]) * servers
        return
    for name in ("service_mean", "service_time"):
        if name in arguments:
            assert exact(arguments["arrival_rate"]) * exact(arguments[name]) >= servers
            return
    service = arguments.get("service", arguments.get("self"))
    if "policy" in arguments:
        policy, workers = arguments["policy"], exact(arguments["workers"])
        size = exact(getattr(policy, "batch", None) or policy.max_batch)
        t_fixed, t_req = parts(service)
        largest = exact(arguments["arrival_rate"]) * (t_fixed / size + t_req)
        blind = not getattr(policy, "server_aware", True)  # smaller batches may be too slow
        assert largest >= workers or blind
        assert arguments["buffer"] is None and "workers = " in str(error)
        return
    target, rate = arguments.get("utilization", 1), arguments["arrival_rate"]
    batches = np.atleast_1d(arguments.get("batch", [1, 10**6, 10**400])).tolist()
    assert not all(reaches(exact_size(b), rate, service, target) for b in batches)


def exact_size(batch: Any) -> Any:
    """Return a batch size as an exact number, however large."""
    return batch if isinstance(batch, int) else exact(batch)
