"""The tiny decoder against a second one written otherwise, its counts against sums and papers."""

import numpy as np
import pytest

from serving import attention, formulas
from serving.attention import KEEP, Shape, generate, random_model
from serving.formulas import value

SHAPES = [
    Shape(layers=1, heads=1, kv_heads=1, head_width=4, mlp_width=6),
    Shape(layers=2, heads=4, kv_heads=4, head_width=8, mlp_width=128),
    Shape(layers=3, heads=6, kv_heads=2, head_width=5, mlp_width=40),
    Shape(layers=2, heads=8, kv_heads=1, head_width=4, mlp_width=17, vocabulary=11),
]
"""One head; many heads; heads that share keys in groups; heads that all share."""
PROMPT = [3, 1, 4, 1, 5, 9]


def ids(shape):
    return f"{shape.layers} layers, {shape.heads} over {shape.kv_heads} heads"


def written_otherwise(model, tokens):
    """Logits after each token: whole matrices, a mask, shared keys copied for each head."""
    shape, count = model.shape, len(tokens)
    hidden = np.triu(np.full((count, count), -np.inf), 1)
    stream = model.embedding[tokens] + model.places[:count]

    def normed(x):
        return x / np.sqrt((x * x).mean(axis=1))[:, None]

    for layer in model.layers:
        x = normed(stream)
        q = np.split(x @ layer.query, shape.heads, axis=1)
        k, v = (np.split(x @ m, shape.kv_heads, axis=1) for m in (layer.key, layer.value))
        share = shape.heads // shape.kv_heads
        heads = []
        for head in range(shape.heads):
            scores = q[head] @ k[head // share].T / np.sqrt(shape.head_width) + hidden
            weights = np.exp(scores - scores.max(axis=1, keepdims=True))
            heads.append(weights / weights.sum(axis=1, keepdims=True) @ v[head // share])
        stream = stream + np.hstack(heads) @ layer.output
        stream = stream + np.clip(normed(stream) @ layer.up, 0, None) @ layer.down
    return normed(stream) @ model.choice


@pytest.mark.parametrize("keep", KEEP)
@pytest.mark.parametrize("shape", SHAPES, ids=ids)
def test_every_way_of_keeping_gives_the_logits_of_a_masked_pass(shape, keep):
    model = random_model(shape, seed=7)
    answer = generate(model, PROMPT, 20, keep)
    sequence = [*PROMPT, *answer.tokens[:-1]]
    expected = written_otherwise(model, sequence)[len(PROMPT) - 1 :]
    # a few dozen sums of at most 128 products of size one: some 1e-15 each
    np.testing.assert_allclose(answer.logits, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(answer.tokens, expected.argmax(axis=1))


def of_layers(answer):
    """Multiply-adds of each step, the choice of the token left out."""
    return sum(answer.work[kind] for kind in attention.KINDS if kind != "choice")


@pytest.mark.parametrize("shape", SHAPES, ids=ids)
def test_the_closed_forms_are_what_the_decoder_counts(shape):
    model = random_model(shape)
    ways = {keep: generate(model, PROMPT, 15, keep) for keep in KEEP}
    cached, inputs, nothing = (ways[keep] for keep in KEEP)
    width = {"layers": shape.layers, "width": shape.width}
    narrow = width | {"kv_width": shape.kv_width}
    whole = narrow | {"mlp_width": shape.mlp_width}
    later = slice(1, None)  # the first step reads the prompt
    tokens = cached.lengths[later]

    def same(counted, formula, **arguments):
        np.testing.assert_array_equal(counted, value(formula, **arguments))

    same(cached.work["projections"][1], formulas.projection_work, **narrow)
    same(cached.work["MLP"][1], formulas.mlp_work, **width, mlp_width=shape.mlp_width)
    same(cached.work["attention"][later], formulas.attention_work, **width, tokens=tokens)
    again = inputs.work["projections again"][later]
    same(again, formulas.reprojection_work, **narrow, tokens=tokens)
    again = nothing.work["attention again"][later]
    same(again, formulas.reattention_work, **width, tokens=tokens)
    same(of_layers(cached)[later], formulas.cached_work, **whole, tokens=tokens)
    same(of_layers(nothing), formulas.pass_work, **whole, tokens=nothing.lengths)
    same(of_layers(cached).sum(), formulas.pass_work, **whole, tokens=cached.lengths[-1])
    lengths = {"input_tokens": len(PROMPT), "output_tokens": 15}
    same(of_layers(nothing).sum(), formulas.forgetful_work, **whole, **lengths)


@pytest.mark.parametrize("shape", SHAPES, ids=ids)
def test_operations_on_a_byte_are_counted_over_read(shape):
    answer = generate(random_model(shape), PROMPT, 10)
    # a multiply-add is two operations, and a number here is eight bytes
    counted = 2 * answer.work["attention"][1:] / answer.kept_bytes[1:]
    intensity = value(formulas.cache_intensity, shape.width, shape.kv_width, 8)
    assert counted == pytest.approx(intensity, rel=1e-12)
    read = sum(m.nbytes for layer in random_model(shape).layers for m in vars(layer).values())
    done = 3 * (answer.work["projections"][1] + answer.work["MLP"][1])
    assert value(formulas.weight_intensity, 3, 8) == pytest.approx(2 * done / read, rel=1e-12)


def test_repeated_attention_takes_over_where_it_equals_the_other_repeats():
    for width, kv_width, mlp_width in [(32, 32, 128), (64, 8, 100), (7, 3, 5)]:
        tokens = value(formulas.takeover_tokens, width, kv_width, mlp_width)
        other = (tokens - 1) * (
            formulas.projection_work(3, width, kv_width) + formulas.mlp_work(3, width, mlp_width)
        )
        assert formulas.reattention_work(3, width, tokens) == other


def test_weights_of_gpt3_are_those_of_its_paper():
    # Brown et al. 2020, table 2.1: 96 layers, width 12288, inner width four times that, 175.0 B
    per_token = value(formulas.projection_work, 96, 12288, 12288)
    per_token += value(formulas.mlp_work, 96, 12288, 4 * 12288)
    embeddings = (50257 + 2048) * 12288
    assert per_token + embeddings == pytest.approx(175.0e9, rel=0.005)


def test_mean_work_of_training_is_that_of_kaplan():
    # Kaplan et al. 2020, table 1: 2 N + 2 n_layer n_ctx d_model operations a token on average
    layers, width, context = 12, 768, 1024
    mean = value(formulas.pass_work, layers, width, width, 4 * width, context) / context
    weights = 12 * layers * width**2
    published = 2 * weights + 2 * layers * context * width
    assert 2 * mean == pytest.approx(published, rel=2 / context)  # n + 1 for n, as the paper may


def test_sizes_of_llama_3_70b():
    # Grattafiori et al. 2024, table 3: 80 layers, width 8192, 64 heads, 8 of them with keys
    shape = Shape(layers=80, heads=64, kv_heads=8, head_width=128, mlp_width=28672)
    assert (shape.width, shape.kv_width) == (8192, 1024)
    assert value(formulas.cache_intensity, shape.width, shape.kv_width, 2) == 8


def test_what_is_kept_does_not_change_when_a_token_follows():
    model = random_model(SHAPES[2])
    short = generate(model, PROMPT, 1).kept
    longer = generate(model, [*PROMPT, 2, 6], 1).kept
    other = generate(model, [*PROMPT[:3], 8, *PROMPT[4:]], 1).kept
    for before, after, changed in zip(short, longer, other, strict=True):
        for rows, more, edited in zip(before, after, changed, strict=True):
            np.testing.assert_allclose(more[: len(rows)], rows, rtol=0, atol=1e-12)
            np.testing.assert_allclose(edited[:3], rows[:3], rtol=0, atol=1e-12)
            assert np.all(np.abs(edited[3] - rows[3]).max() > 1e-3)
    # in every layer but the first an edit changes all that stands behind it
    assert np.abs(other[1][0][4:] - short[1][0][4:]).max(axis=1).min() > 1e-6


def test_wrong_arguments_are_named():
    model = random_model(SHAPES[3])
    with pytest.raises(ValueError, match=r"kv_heads must divide heads = 6, got kv_heads = 4"):
        Shape(layers=1, heads=6, kv_heads=4, head_width=8, mlp_width=8)
    with pytest.raises(ValueError, match=r"head_width must be a whole number, got 2\.5"):
        Shape(layers=1, heads=1, kv_heads=1, head_width=2.5, mlp_width=8)
    with pytest.raises(ValueError, match="shape must have at most 10000000 weights"):
        random_model(Shape(layers=96, heads=96, kv_heads=96, head_width=128, mlp_width=49152))
    with pytest.raises(
        ValueError, match=r"prompt\[1\] must be a whole number below .* = 11, got 11"
    ):
        generate(model, [3, 11], 1)
    with pytest.raises(ValueError, match=r"positions = 128: 100 tokens and count = 30 need 129"):
        generate(model, [1] * 100, 30)
    assert generate(model, [1] * 100, 29).lengths[-1] == 128
    with pytest.raises(ValueError, match="keep must be one of keys and values, inputs, nothing"):
        generate(model, [1], 1, keep="all")
    with pytest.raises(ValueError, match="prompt must be a list of one token or more"):
        generate(model, [], 1)


def test_making_keys_again_is_linear_and_attending_again_is_quadratic():
    shape = SHAPES[1]
    answers = [generate(random_model(shape), PROMPT, 20, keep) for keep in ("inputs", "nothing")]
    inputs, nothing = (answer.work for answer in answers)
    keys, attended = inputs["projections again"][1:], nothing["attention again"][1:]
    assert np.ptp(np.diff(keys)) == 0 < np.diff(keys)[0]
    assert np.ptp(np.diff(attended, 2)) == 0 < np.diff(attended, 2)[0]
    assert not inputs["attention again"].any() and not inputs["MLP again"].any()
