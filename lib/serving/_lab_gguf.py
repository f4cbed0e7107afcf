"""The header of a GGUF file: what a model says of itself, before any engine has run.

Source: ggml, ``docs/gguf.md``, version 3 of the format.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"GGUF"
VERSIONS = (2, 3)
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q"}
NUMBERS[12] = "d"
TEXT, LIST = 8, 9
FIELDS = {
    "num_hidden_layers": "block_count",
    "hidden_size": "embedding_length",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "max_position_embeddings": "context_length",
}
"""Fields of a ``config.json`` and what a header calls them, behind the name of the family."""


def header(path: str | Path) -> dict[str, Any]:
    """Read what a GGUF file says of its model.

    Parameters
    ----------
    path : str or Path
        The file; only its beginning is read.

    Returns
    -------
    dict
        Names to numbers, texts and lists, as they stand in the file.

    Raises
    ------
    ValueError
        If the file is not of a known version of the format, or ends too early.
    """
    with open(path, "rb") as file:
        try:
            magic, version, _, count = struct.unpack("<4sIQQ", file.read(24))
            if magic != MAGIC or version not in VERSIONS:
                raise ValueError(f"path must be a GGUF file of version 2 or 3, got {path!s}")
            return dict(_entry(file) for _ in range(count))
        except (struct.error, UnicodeDecodeError) as error:
            raise ValueError(f"path must be a whole GGUF file, got {path!s}: {error}") from None


def config(path: str | Path) -> dict[str, Any]:
    """Read from a GGUF file the fields that the size of its cache depends on.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    dict
        As a ``config.json`` has them, for `serving.kvcache.layout`.

    Raises
    ------
    ValueError
        If it is no GGUF file, or its family has another kind of attention than Llama's.
    """
    said = header(path)
    family = said.get("general.architecture")
    if family != "llama":
        raise ValueError(f"path must hold a model of the family llama, got {family!r} in {path!s}")
    fields = {name: said.get(f"{family}.{key}") for name, key in FIELDS.items()}
    return {"model_type": family} | {name: n for name, n in fields.items() if n is not None}


def _entry(file: BinaryIO) -> tuple[str, Any]:
    name = _text(file)
    return name, _value(file, _number(file, "I"))


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == TEXT:
        return _text(file)
    if kind == LIST:
        inner, count = _number(file, "I"), _number(file, "Q")
        return [_value(file, inner) for _ in range(count)]
    if kind not in NUMBERS:
        raise ValueError(f"path must be a GGUF file with known kinds of values, got kind {kind}")
    return _number(file, NUMBERS[kind])


def _text(file: BinaryIO) -> str:
    size = _number(file, "Q")
    text = file.read(size)
    if len(text) < size:
        raise struct.error(f"a text of {size} bytes has {len(text)}")
    return text.decode("utf-8")


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack("<" + form, file.read(struct.calcsize("<" + form)))[0]
