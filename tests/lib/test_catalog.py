"""The catalogue: entries are complete, sourced and readable as layouts."""

from __future__ import annotations

import pytest

from serving import catalog, kvcache


@pytest.mark.parametrize("model", catalog.models().values(), ids=lambda model: model.name)
def test_a_model_has_a_cache_and_a_source(model):
    assert kvcache.layout(model.config).sequence_bytes(model.context) > 0
    assert 0 < model.active_parameters <= model.parameters
    assert model.source


@pytest.mark.parametrize("one", catalog.accelerators().values(), ids=lambda one: one.name)
def test_an_accelerator_moves_and_computes(one):
    assert one.memory > 0 and one.bandwidth > 0 and one.link >= 0 and one.source
    assert one.peak and all(peak > one.bandwidth for peak in one.peak.values())


@pytest.mark.parametrize("one", catalog.accelerators().values(), ids=lambda one: one.name)
def test_peaks_are_dense_and_double_as_numbers_get_half_as_long(one):
    """A peak with sparsity among others without would stand out."""
    half = one.peak.get("bf16", one.peak.get("fp16"))
    pairs = [
        (one.peak.get("tf32"), half),
        (half, one.peak.get("fp8")),
        (half, one.peak.get("int8")),
    ]
    for longer, shorter in pairs:
        if longer and shorter:
            assert shorter / longer == pytest.approx(2, rel=0.06)
    assert one.link < one.bandwidth and one.peak.get("fp16", half) == half


def test_a_name_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"model must be one of .*llama-2-70b.*, got 'gpt-9'"):
        catalog.model("gpt-9")
    with pytest.raises(ValueError, match=r"accelerator must be one of .*, got 7"):
        catalog.accelerator(7)
