"""Assignment 5: how large the cache is, what pages lose, and how many sequences fit."""

from __future__ import annotations

from typing import Any

from course.marking import (
    Draw,
    Property,
    Student,
    Task,
    Wrong,
    close,
    refused,
    same_expression,
    symbols,
    whole,
)
from serving import formulas, kvcache

NAMES = ("memory", "layers", "kv_heads", "head_dim", "element_bytes", "tokens", "block")
GIB = 1 << 30


def _mean_fit(memory: float, block: float, tokens: float, **shape: float) -> float:
    """Count the requests that fit when each leaves half a block less half a token empty."""
    held = tokens + formulas.block_waste(block)
    return formulas.memory_batch(cache_memory=memory, tokens=held, **shape)


def _points(draw: Draw, count: int) -> list[dict[str, float]]:
    return [
        {
            "memory": float(draw.randint(4, 80) * GIB),
            "layers": float(draw.randint(12, 96)),
            "kv_heads": float(draw.choice((1, 4, 8, 32))),
            "head_dim": float(draw.choice((64, 80, 128))),
            "element_bytes": float(draw.choice((1, 2, 4))),
            "tokens": float(draw.randint(50, 4000)),
            "block": float(draw.randint(2, 64)),
        }
        for _ in range(count)
    ]


def _no_blocks(student: Student, draw: Draw) -> None:
    got = student.value("mean_fit", *symbols(*NAMES[:-1]), 1)
    points = [{key: one[key] for key in NAMES[:-1]} for one in _points(draw, 3)]
    same_expression(got, lambda **given: _mean_fit(block=1, **given), points, "the number")


def _blocks_of_16(student: Student, _: Draw) -> None:
    case = (20 * GIB, 32, 8, 128, 2, 100, 16)
    got = student.value("mean_fit", *case)
    given = dict(zip(NAMES, map(float, case), strict=True))
    same_expression(got, lambda: _mean_fit(**given), [{}], "the number that fits")


def _blocks(student: Student, draw: Draw) -> None:
    got = student.value("mean_fit", *symbols(*NAMES))
    same_expression(got, _mean_fit, _points(draw, 40), "the number that fits")


def _config(draw: Draw, grouped: bool = True) -> dict[str, Any]:
    heads = draw.choice((16, 24, 32, 40, 64))
    config = {
        "model_type": "llama",
        "num_hidden_layers": draw.randint(12, 96),
        "hidden_size": heads * draw.choice((64, 80, 128)),
        "num_attention_heads": heads,
    }
    return config | ({"num_key_value_heads": draw.choice((1, 2, 4, 8))} if grouped else {})


def _bytes(config: dict[str, Any], tokens: int, element: int, block: int) -> int:
    dtype = {1: "fp8", 2: "bf16", 4: "fp32"}[element]
    return kvcache.layout(config, dtype).sequence_bytes(-(-tokens // block) * block)


def _asked(student: Student, *case: Any) -> int:
    return whole(student.value("sequence_bytes", *case), "the bytes of a sequence")


def _equal(student: Student, *case: Any) -> None:
    close(_asked(student, *case), _bytes(*case), "the number of bytes", rel=0)


def _bytes_example(student: Student, _: Draw) -> None:
    config = {"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32}
    _equal(student, config | {"num_key_value_heads": 8}, 1000, 2, 16)


def _bytes_agree(student: Student, draw: Draw) -> None:
    for _ in range(6):
        case = (draw.randint(1, 8000), draw.choice((1, 2, 4)), draw.choice((1, 8, 16, 32)))
        _equal(student, _config(draw), *case)


def _bytes_boundaries(student: Student, draw: Draw) -> None:
    config, block, blocks = _config(draw), draw.choice((8, 16, 32)), draw.randint(2, 60)
    full = _asked(student, config, blocks * block, 2, block)
    _equal(student, config, blocks * block, 2, block)
    if _asked(student, config, blocks * block - block + 1, 2, block) != full:
        raise Wrong("the first token of a block takes the whole block")
    if _asked(student, config, blocks * block + 1, 2, block) <= full:
        raise Wrong("one token more than full blocks takes one block more")


def _bytes_heads(student: Student, draw: Draw) -> None:
    config = _config(draw, grouped=False)
    _equal(student, config, 640, 2, 16)
    same = config | {"num_key_value_heads": config["num_attention_heads"]}
    _equal(student, same, 640, 2, 16)
    _equal(student, config | {"num_key_value_heads": None, "head_dim": None}, 640, 2, 16)


def _bytes_fields(student: Student, draw: Draw) -> None:
    """A head may be larger or smaller than its part of the hidden size."""
    for _ in range(3):
        config = _config(draw)
        own = 32 + config["hidden_size"] // config["num_attention_heads"]
        _equal(student, config, 640, 2, 16)
        _equal(student, config | {"head_dim": own}, 640, 2, 16)


def _bytes_exact(student: Student, draw: Draw) -> None:
    """Beyond 2^53 a float is no longer a count of bytes."""
    config = _config(draw, grouped=False)
    tokens = 2**58 + 2 * draw.randint(1, 10**6) + 1
    got, right = _asked(student, config, tokens, 2, 1), _bytes(config, tokens, 2, 1)
    if got != right:
        raise Wrong("a very large count of bytes is not exact: was it a float, or an int32?")


def _count(student: Student, config: dict[str, Any], gib: int, tokens: int) -> int:
    return whole(student.value("sequences", config, gib, tokens), "the number of sequences")


def _count_right(student: Student, config: dict[str, Any], gib: int, tokens: int) -> None:
    right = kvcache.layout(config).max_sequences(gib * GIB, tokens)
    close(_count(student, config, gib, tokens), right, "the number of sequences", rel=0)


def _count_example(student: Student, _: Draw) -> None:
    config = {"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32}
    _count_right(student, config | {"num_key_value_heads": 8, "model_type": "llama"}, 20, 1000)


def _count_unit(student: Student, draw: Draw) -> None:
    done = 0
    while done < 4:  # where GB and GiB give different counts
        case = (_config(draw), draw.randint(8, 70), draw.randint(40, 600))
        layout = kvcache.layout(case[0])
        in_gb = layout.max_sequences(case[1] * 10**9, case[2])
        if in_gb != layout.max_sequences(case[1] * GIB, case[2]):
            _count_right(student, *case)
            done += 1


def _count_edges(student: Student, draw: Draw) -> None:
    config, tokens = _config(draw), draw.randint(40, 600)
    each = kvcache.layout(config).sequence_bytes(-(-tokens // 16) * 16)
    _count_right(student, config, 5, tokens)
    close(_count(student, config, 1, 16 * (GIB // each + 1) * tokens), 0,
          "where one sequence is larger than the memory, the number of sequences")  # fmt: skip
    refused(student, "sequences", config, 5, 0, why="for a sequence of no token")


TASKS = {
    "mean-fit": Task(
        serving=False,
        properties=(
            Property(0.25, "the first example: blocks of one token", _no_blocks),
            Property(0.25, "the second example: blocks of 16", _blocks_of_16),
            Property(2.5, "any block, as an expression", _blocks),
        ),
    ),
    "sequence-bytes": Task(
        serving=False,
        properties=(
            Property(0.5, "the example of the notebook", _bytes_example),
            Property(1.0, "bytes of models that share keys among heads", _bytes_agree),
            Property(0.5, "both sides of a block", _bytes_boundaries),
            Property(0.25, "a model whose every head has keys of its own", _bytes_heads),
            Property(0.25, "a model that states the size of a head", _bytes_fields),
            Property(0.5, "counts too large for a float are exact", _bytes_exact),
        ),
    ),
    "sequences": Task(
        serving=True,
        properties=(
            Property(0.25, "the example of the notebook", _count_example),
            Property(1.25, "the number that fits into GiB", _count_unit),
            Property(0.5, "nothing fits, and nothing is asked", _count_edges),
        ),
        seconds=8.0,  # the first call imports serving
    ),
}
