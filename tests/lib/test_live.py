"""Live charts: the page's numbers are the package's, and what is wrong is named."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy

from serving import (
    LinearService,
    _generic,
    _javascript,
    _mathml,
    _special,
    formulas,
    live,
    notation,
    palette,
    policies,
    simulation,
    window,
)
from serving._formula import Formula
from serving._quantity import quantity
from serving.errors import UnstableError

quickjs = pytest.importorskip("quickjs", reason="no JavaScript engine: pip install quickjs")

DRAWS = 200
INSIDE = 100
"""Of the draws for each formula, so many lie inside its domain."""
CLOSE = 1e-12
EDGES = (0.0, 0.5, 1.0, 2.0)
"""Numbers whose sums and products often meet, and so lie on the edge of a domain."""


def engine(script: str = "") -> quickjs.Context:
    """Return a JavaScript engine that has the model and the formulas."""
    context = quickjs.Context()
    for name in ("1-arithmetic.js", "2-model.js", "2-specials.js"):
        context.eval((Path(live.__file__).parent / live.RUNTIME / name).read_text("utf-8"))
    context.eval(script or _javascript.script())
    return context


@pytest.fixture(scope="module")
def page() -> quickjs.Context:
    """Give one engine for all tests that do not change it."""
    return engine()


def asked(context: quickjs.Context, expression: str, *data: object) -> object:
    """Call a JavaScript function with data, and give back its data."""
    written = ", ".join(json.dumps(one) for one in data)
    return json.loads(context.eval(f"JSON.stringify(({expression})({written}))"))


ALL = """(name, points) => points.map((point) => {
  const { value, outside } = live.attempt({ formula: name }, point);
  return outside ? outside.kind : value;
})"""


def drawn(made: Formula) -> list[dict[str, float]]:
    """Draw arguments inside the domain and anywhere: round decimals, integers, long fractions."""
    source = random.Random(made.name)
    kinds: list[Callable[[], float]] = [
        lambda: float(f"{10 ** source.uniform(-3, 3):.1g}"),
        lambda: float(source.randint(1, 100)),
        lambda: 10 ** source.uniform(-4, 4),
        lambda: 10 ** source.uniform(3, 12),
        source.random,
    ]
    inside, anywhere = [], []
    for _ in range(1000):
        columns = [np.array([source.choice(kinds)() for _ in range(60)]) for _ in made.parameters]
        with np.errstate(all="ignore"):
            holds = np.broadcast_to(np.logical_and.reduce(made.holds(tuple(columns))), 60)
        rows = [
            dict(zip([p.name for p in made.parameters], row, strict=True))
            for row in np.transpose(columns).tolist()
        ]
        anywhere += rows[:2]
        inside += [row for row, held in zip(rows, holds, strict=True) if held]
        if len(inside) >= INSIDE and len(anywhere) >= DRAWS - INSIDE:
            break
    names = [entry.name for entry in made.parameters]
    edges = [{name: source.choice(EDGES) for name in names} for _ in range(40)]
    return (inside[:INSIDE] + edges + anywhere)[:DRAWS]


def known(made: Formula, point: dict[str, float]) -> float | str:
    """Value by the package, or the kind of the reason why there is none."""
    try:
        return float(formulas.value(made.function, **point))
    except UnstableError:
        return "unstable"
    except ValueError as error:
        return "large" if "too large" in str(error) else "domain"


def differences(context: quickjs.Context, made: Formula) -> tuple[list[str], int]:
    """List the draws where page and package do not agree, and count those with a value."""
    points = drawn(made)
    faults, inside = [], 0
    for point, there in zip(points, asked(context, ALL, made.name, points), strict=True):
        here = known(made, point)
        inside += not isinstance(here, str)
        agree = here == there
        if not agree and not isinstance(here, str) and not isinstance(there, str):
            agree = abs(there - here) <= CLOSE * abs(here)
        if not agree:
            faults.append(f"{made.name}{point}: {here} in Python, {there} in the page")
    return faults, inside


@pytest.mark.parametrize("made", formulas.REGISTRY.values(), ids=lambda made: made.name)
def test_the_page_computes_what_the_package_computes(page, made: Formula):
    faults, inside = differences(page, made)
    assert not faults, "\n".join(faults)
    assert inside >= INSIDE


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("surrogate_wait", "q.of(2)", "q.of(200000000001, 100000000000)"),
        ("surrogate_wait", '["<", true', '["<=", true'),
        ("surrogate_wait", '["<", true', '["<", false'),
        ("min_batch", "q.neg(", "("),
        ("chain_yield", "q.expm1(", "q.exp("),
        ("step_time", "q.max(", "q.min("),
    ],
)
def test_a_formula_that_is_printed_wrongly_is_found(name: str, old: str, new: str):
    printed = _javascript.script([name])
    assert old in printed
    faults, _ = differences(engine(printed.replace(old, new)), formulas.REGISTRY[name])
    assert faults


def test_without_names_of_their_own_functions_would_lose_digits():
    made = formulas.REGISTRY["experts_touched"]
    point = {"experts": 1e9, "chosen_experts": 1.0, "batch": 1.0}
    assert known(made, point) == pytest.approx(1, rel=1e-12)
    plain = _javascript.expression(made.expression)
    context = engine()
    arguments = "live.floats, 1e9, 1, 1"
    names = "q, experts, chosen_experts, batch"
    assert abs(context.eval(f"(({names}) => {plain})({arguments})") - 1) > 1e-9
    with _generic.named():
        kept = _javascript.expression(made.function(*made.symbols))
    assert context.eval(f"(({names}) => {kept})({arguments})") == pytest.approx(1, rel=1e-12)


def test_a_load_of_exactly_one_is_unstable_in_the_page(page):
    ask = "(p) => live.attempt({formula: 'surrogate_wait'}, p, true).outside?.kind ?? 'inside'"
    at_one = {"arrival_rate": 3.0, "batch": 2.1, "t_fixed": 0.49, "t_req": 0.1}  # 3 * 0.7 = 2.1
    assert 3.0 * (0.49 + 0.1 * 2.1) < 2.1  # so say floats
    assert asked(page, ask, at_one) == "unstable"


def test_numbers_go_both_ways_without_loss(page):
    source = random.Random(1)
    numbers = [source.choice([-1, 1]) * 10 ** source.uniform(-300, 300) for _ in range(500)]
    numbers += [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 0.0, -0.5, 1e21, 1.2345678901234568e20]
    back = "(all) => all.map((x) => live.exact.number(live.exact.decimal(x)))"
    assert [float(one) for one in asked(page, back, numbers)] == numbers


def test_what_javascript_cannot_is_an_error():
    x = sympy.Symbol("x", real=True)
    for expression in (sympy.gamma(x), sympy.Sum(x, (x, 1, 3)), x**x, sympy.sin(x)):
        with pytest.raises((TypeError, NotImplementedError)):
            _javascript.expression(expression)


def test_cases_are_printed_with_their_conditions(page):
    x = sympy.Symbol("x", real=True)
    printed = _javascript.expression(_generic.where(x > 1, x**2, -x))
    for q in ("floats", "exact"):
        lift = "live.exact.decimal" if q == "exact" else ""
        ask = f"((q, x) => q.number({printed}))(live.{q}, {lift}(X))"
        assert [page.eval(ask.replace("X", one)) for one in ("3", "0.5")] == [9, -0.5]
    with pytest.raises(TypeError):
        _javascript.expression(sympy.Piecewise((x, x > 1)))


# ---- equations


@pytest.mark.parametrize("made", formulas.REGISTRY.values(), ids=lambda made: made.name)
def test_every_equation_is_mathml_with_symbols_of_the_table(made: Formula):
    root = ElementTree.fromstring(_mathml.math(made.latex).replace("&#8290;", "×"))
    found = {one.get("data-symbol") for one in root.iter() if one.get("data-symbol")}
    assert found <= {entry.name for entry in notation.TABLE}
    arguments = {entry.name for entry in made.parameters}
    expanded = set().union(
        *({p.name for p in formulas.REGISTRY[one].parameters} for one in found if one in
          formulas.REGISTRY)
    )  # fmt: skip
    assert arguments <= found | expanded


def test_symbols_look_as_in_the_notation_table():
    assert "<msub><mi>λ</mi><mrow><mtext>arr</mtext></mrow></msub>" in _mathml.symbol(
        "arrival_rate"
    )
    for entry in notation.TABLE:
        ElementTree.fromstring(_mathml.symbol(entry.name))


def test_unknown_latex_is_an_error():
    for latex in (r"\oint B", "(B", r"\underbrace{B}", r"\frac{B}"):
        with pytest.raises(ValueError):
            _mathml.math(latex)


# ---- colours


def test_every_colour_can_be_seen_and_read_on_its_page():
    assert palette.LIGHT.keys() == palette.DARK.keys()
    style = palette.css()
    light, dark = style.split("@media", 1)
    for words, page_color in ((light, "#ffffff"), (dark, "#14181e")):
        for name in palette.LIGHT:
            [color] = re.findall(rf"--c-{name}: (#\w+);", words)
            [text] = re.findall(rf"--t-{name}: (#\w+);", words)
            assert palette.contrast(color, page_color) >= 3
            assert palette.contrast(text, page_color) >= 4.5


def test_symbols_wear_colours_of_the_palette():
    assert palette.SYMBOLS
    assert palette.SYMBOLS.keys() <= {entry.name for entry in notation.TABLE}
    assert set(palette.SYMBOLS.values()) <= palette.LIGHT.keys()


# ---- charts

RANGES = {"batch": (1, 64), "arrival_rate": (10.0, 300.0), "t_fixed": (0.005, 0.08)}
DEFAULTS = {"batch": 16, "arrival_rate": 100.0, "t_fixed": 0.05, "t_req": 0.0005}
PARTS = [
    live.Curve(formulas.batch_time, "service", "service"),
    live.Curve(formulas.accumulation_delay, "accumulation", "accumulation"),
    live.Curve(formulas.surrogate_wait, "wait", "wait"),
]


def made(**changes) -> live.Chart:
    """Return a chart of chapter 5's kind, changed."""
    settings = {
        "title": "A title",
        "x": "batch",
        "curves": PARTS,
        "ranges": RANGES,
        "defaults": DEFAULTS,
        "y": "mean response time",
        "unit": "ms",
        "kind": "stack",
        "marks": [live.Mark("best", formulas.optimal_batch, "total", "wait")],
        "equation": formulas.surrogate_total,
        "sentence": "At {arrival_rate} it takes {total}, {utilization} busy.",
        "guess": live.Guess("How long?", "total", at=7),
    }
    return live.chart(**settings | changes)


def data_of(chart: live.Chart) -> dict:
    """Return the data that the page gets."""
    return json.loads(json.dumps(chart.spec))


TOTALS = """(spec, points) => points.map((point) => {
  const found = spec.curves.map(({ term }) => live.attempt(term, { ...spec.fixed, ...point }));
  return found.map(({ value, outside }) => (outside ? "outside" : value));
})"""


def random_points(chart: live.Chart, count: int = DRAWS) -> list[dict[str, float]]:
    """Draw points of the chart's ranges."""
    source = random.Random(2)
    return [
        {
            p.name: source.randint(p.low, p.high) if p.whole else source.uniform(p.low, p.high)
            for p in chart.parameters
        }
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    "curve",
    [
        live.of(formulas.surrogate_total),
        live.of(formulas.utilization) * formulas.batch_time,
        1 - live.of(formulas.utilization),
        live.of(formulas.surrogate_wait) + formulas.accumulation_delay - 0.01,
        live.of(formulas.min_batch, utilization_target=0.75) / "batch",
        live.of(
            formulas.pollaczek_khinchine_wait,
            rate=live.of(formulas.batch_arrival_rate),
            service_mean=formulas.batch_time,
            service_second_moment=live.of(formulas.batch_time) * formulas.batch_time,
        ),
        live.least(formulas.surrogate_wait, 0.05),
        live.largest("t_fixed", formulas.accumulation_delay),
    ],
)
def test_quantities_are_the_same_in_the_page_and_in_the_still(page, curve):
    needed = curve.names() | {"batch"}
    chart = made(
        curves=[live.Curve(curve, "it"), live.Curve("batch", "batch")],
        ranges={name: ends for name, ends in RANGES.items() if name in needed},
        defaults={name: value for name, value in DEFAULTS.items() if name in needed},
        kind="line", marks=[], equation=None, sentence="", guess=None,
    )  # fmt: skip
    points = random_points(chart)
    there = [one for one, _ in asked(page, TOTALS, data_of(chart), points)]
    here = [float(curve.values(dict(chart.fixed) | point)) for point in points]
    assert sum(map(np.isfinite, here)) > DRAWS / 4
    for a, b in zip(there, here, strict=True):
        assert (a == "outside") == (not np.isfinite(b))
        assert a == "outside" or a == pytest.approx(b, rel=1e-9)


def test_a_grid_is_exact_on_its_lines_and_geometric_between_and_nothing_outside(page):
    def decay(batch, load):
        if load > 0.85:
            raise UnstableError("too much")
        return float(np.exp(-batch * load))

    table = live.grid(
        decay, {"batch": [1, 2, 4], "load": [0.1, 0.5, 0.9]}, load=formulas.utilization
    )
    chart = made(
        curves=[live.Curve(table, "it")], kind="line", marks=[], equation=None, guess=None,
        sentence="",
    )  # fmt: skip
    ask = "(term, p) => live.attempt(term, p).outside?.kind ?? live.attempt(term, p).value"
    term = data_of(chart)["curves"][0]["term"]

    def at(batch, load):
        point = {"batch": batch, "arrival_rate": load * batch, "t_fixed": 1.0, "t_req": 0.0}
        return asked(page, ask, term, point)

    for batch, load in ((1, 0.1), (2, 0.5), (4, 0.1), (4, 0.5)):
        assert at(batch, load) == pytest.approx(decay(batch, load), rel=1e-5)  # six digits
    assert at(3, 0.1) == pytest.approx(np.exp(-0.3), rel=1e-5)
    assert at(2, 0.3) == pytest.approx(np.exp(-0.6), rel=1e-5)
    assert at(3, 0.3) == pytest.approx(np.sqrt(np.exp(-0.6) * np.exp(-1.2)), rel=1e-5)
    assert [at(5, 0.1), at(1, 0.05), at(1, 0.95)] == ["grid"] * 3
    assert at(1, 0.7) == "unstable"


@pytest.mark.parametrize("what", ["mean_size", "mean_delay", "full"])
def test_a_window_is_the_same_in_the_page(page, what):
    source = random.Random(what)
    points = [
        {
            "arrival_rate": 10 ** source.uniform(-1, 3),
            "max_batch": source.choice([1, 2, 3, 8, 17, 64, 300]),
            "max_wait": source.choice([0, 0.02, 10 ** source.uniform(-4, 1)]),
        }
        for _ in range(DRAWS)
    ]
    term = live.window(what).spec()
    there = asked(page, "(t, all) => all.map((p) => live.evaluate(t, p))", term, points)
    here = [getattr(window.form(**point), what) for point in points]
    assert len(set(here)) > DRAWS / 3
    for a, b, point in zip(there, here, points, strict=True):
        assert a == pytest.approx(b, rel=CLOSE, abs=1e-300), point


SETTINGS = [(8, 1e9, 100.0), (8, 0.0, 100.0), (8, 0.02, 100.0), (3, 0.05, 40.0), (1, 0.0, 15.0)]


@pytest.mark.parametrize("setting", SETTINGS)
def test_played_requests_are_those_of_the_simulation_and_of_the_page(page, setting):
    size, wait, rate = setting
    service = LinearService(0.05, 0.0005)
    batches = _special.replay(size, wait, rate, service.t_fixed, service.t_req)
    arrivals = [one for batch in batches for one in batch.arrivals]
    responses = [batch.end - one for batch in batches for one in batch.arrivals]
    assert len(arrivals) > 400
    policy = policies.Fixed(size) if wait > 1e6 else policies.Window(size, wait)
    run = simulation.simulate(None, policy, service, arrivals=arrivals)
    assert np.mean(responses) == pytest.approx(run.mean, rel=1e-9)
    term = live.replay(max_batch=size, max_wait=wait, arrival_rate=rate, t_fixed=0.05, t_req=0.0005)
    there = asked(page, "(t) => live.evaluate(t, {})", term.spec())
    assert there == pytest.approx(_special.mean_of_second(*setting, 0.05, 0.0005), rel=CLOSE)


def test_a_region_names_the_limit_that_binds(page):
    chart = live.chart(
        "A title", "arrival_rate",
        [live.Curve(formulas.utilization, "stability", "wait"),
         live.Curve(live.of(formulas.surrogate_total) / 0.2, "response", "service"),
         live.Curve(live.quantity("batch") / 40, "memory", "cache")],
        RANGES, DEFAULTS, kind="region", vertical="batch",
    )  # fmt: skip
    page.eval((Path(live.__file__).parent / live.RUNTIME / "3-numbers.js").read_text("utf-8"))
    page.eval("live.shapes = {}")
    page.eval((Path(live.__file__).parent / live.RUNTIME / "4-special-pictures.js").read_text())
    ask = "(spec, p) => live.kinds.region.said(spec, { ...spec.fixed, ...p })"

    def said(**point):
        return asked(page, ask, data_of(chart), {"t_fixed": 0.05} | point)

    assert said(arrival_rate=100, batch=16).startswith("allowed; closest to its limit: response")
    assert said(arrival_rate=300, batch=50) == "not allowed: memory"
    assert said(arrival_rate=300, batch=4) == "not allowed: stability"
    assert said(arrival_rate=20, batch=30) == "not allowed: response"


def test_the_best_number_within_limits_is_the_same_in_the_page(page):
    limits = [
        live.of(formulas.utilization) / "utilization_target",
        live.of(formulas.surrogate_total) / 0.3,
    ]
    best = live.best("batch", range(1, 129), formulas.surrogate_total, limits)
    source = random.Random(3)
    points = [
        {
            "arrival_rate": source.uniform(1, 400),
            "t_fixed": source.uniform(0.001, 0.2),
            "t_req": source.choice([0, 0.001]),
            "utilization_target": source.choice([0.5, 0.7, 1]),
        }
        for _ in range(60)
    ]
    ask = "(term, all) => all.map((p) => live.attempt(term, p).value ?? 'none')"
    there = asked(page, ask, best.spec(), points)
    here = [float(best.values(point)) for point in points]
    assert here.count(np.inf) > 3
    assert len(set(here)) > 15
    assert there == [one if np.isfinite(one) else "none" for one in here]


def test_a_limit_that_is_just_met_is_met(page):
    # 100 requests/s of 5 ms each load a batch of 10 to 75 % exactly
    ratio = live.of(formulas.utilization) / "utilization_target"
    best = live.best("batch", range(1, 65), "batch", [ratio])
    point = {"arrival_rate": 100, "t_fixed": 0.025, "t_req": 0.005, "utilization_target": 0.75}
    assert asked(page, "live.evaluate", best.spec(), point) == 10
    assert float(best.values(point)) == 10


def test_results_and_choices_reach_the_page():
    chart = made(
        sentence="At {arrival_rate}: {choice}.",
        results={"choice": (live.best("batch", range(1, 9), formulas.surrogate_total), "requests")},
        presets={"server": {"this": {"t_fixed": 0.05}, "that": {"t_fixed": 0.02, "t_req": 0.001}}},
    )
    data = data_of(chart)
    assert data["sentence"][3][0] == "result"
    assert data["sentence"][3][1]["term"]["best"] == "batch"
    assert data["presets"][0]["options"][1] == {
        "label": "that",
        "values": {"t_fixed": 0.02, "t_req": 0.001},
    }


@pytest.mark.parametrize("kind", ["bars", "gantt"])
def test_other_kinds_have_a_still_picture_and_words(kind):
    play = live.Curve(live.replay(max_batch="batch", max_wait=0), "greedy", "greedy")
    what = [play] if kind == "gantt" else PARTS
    words = made(kind=kind, curves=what, marks=[], equation=None, guess=None, sentence="")
    shown = words._repr_mimebundle_()
    assert what[0].label in shown["text/plain"]
    assert shown["text/html"].count("<path") > 5


def test_a_chart_is_one_output_that_is_the_same_each_time(monkeypatch):
    monkeypatch.setenv("SERVING_STILL", "1")
    first, again = made()._repr_mimebundle_(), made()._repr_mimebundle_()
    assert first == again
    written = re.search(r'data-live="([^"]*)"', first["text/html"])
    assert json.loads(html.unescape(written[1])) == data_of(made())
    assert first["text/html"].startswith('<figure class="live" id="live-a-title"')
    assert '<div class="live-still"><svg role="img"' in first["text/html"]
    assert "<script" not in first["text/html"]


def test_the_script_leaves_out_comments_and_nothing_else():
    bare = live.script().splitlines()
    folder = Path(live.__file__).parent / live.RUNTIME
    left = list(reversed(bare))
    for path in sorted(folder.glob("*.js")):
        for line in map(str.strip, path.read_text("utf-8").splitlines()):
            if left and line == left[-1]:
                left.pop()
            else:
                assert not line or line.startswith(("//", "/*", "*"))
    assert not left
    assert not any(line.startswith(("//", "/*", "* ")) for line in bare)


def runtime(context: quickjs.Context, *names: str) -> None:
    """Load more files of the page's script."""
    for name in names:
        context.eval((Path(live.__file__).parent / live.RUNTIME / name).read_text("utf-8"))


@pytest.mark.parametrize("layout", [None, 0, live.LAYOUT - 1, live.LAYOUT + 1, str(live.LAYOUT)])
def test_a_figure_of_another_layout_stands_still_and_says_so_once(layout):
    context = engine()
    context.eval("live.element = (name, _, words) => words; live.shape = null")
    context.eval("var said = [], root = { dataset: {}, append: (one) => said.push(one) }")
    context.eval("""var document = { querySelector: () => null,
      querySelectorAll: (wanted) => "stands" in root.dataset ? [] : [root] }""")
    runtime(context, "8-chart.js")
    spec = data_of(made()) | {"layout": layout}
    asked(context, "(spec) => (root.dataset.live = JSON.stringify(spec))", spec)
    context.eval("live.start(); live.start()")
    [words] = asked(context, "() => said")
    assert "another version" in words
    assert asked(context, "() => [root.dataset.stands, root.live ?? null]") == ["", None]


def test_figures_have_the_layout_that_the_page_knows():
    assert data_of(made())["layout"] == live.LAYOUT
    assert f"live.LAYOUT = {live.LAYOUT};" in live.script()


def test_no_mark_is_drawn_through_the_label_of_another():
    context = engine()
    runtime(context, "3-numbers.js")
    context.eval("live.shape = null")
    runtime(context, "4-picture.js")
    ask = """(found, right) => live.labelled(found, { left: 56, right, across: (x) => 56 + x,
      x: { scale: [1, 1], unit: "", whole: false } })"""
    source = random.Random(7)
    beneath = 0
    for _ in range(300):
        right = source.choice([348, 600])
        found = [
            {"label": "m" * source.randint(3, 30), "place": source.uniform(0, right - 56)}
            for _ in range(source.randint(1, 4))
        ]
        labels = asked(context, ask, [*found, {"label": "nowhere"}], right)
        assert sorted(one["mark"]["place"] for one in labels) == sorted(f["place"] for f in found)
        tops = [one["top"] for one in labels]
        assert all(b - a >= 14 for a, b in zip(tops, tops[1:], strict=False))
        for one in labels:
            assert one["from"] >= one["top"]
            beneath += one["from"] > one["top"] + 14
            for other in labels:
                end = other["begin"] + 7 * len(other["words"])
                crossed = other["begin"] < one["x"] < end and other["top"] + 11 > one["from"]
                assert not crossed or other is one
    assert beneath > 30  # lines that end below another label, so that the case occurs


def test_in_a_live_session_it_brings_its_script(monkeypatch):
    monkeypatch.delenv("SERVING_STILL", raising=False)
    written = made()._repr_mimebundle_()["text/html"]
    assert written.count("<script>") == written.count("</script>") == 1
    for needed in ("surrogate_wait:", "batch_time:", "utilization:", "optimal_batch:"):
        assert needed in written
    assert "mm1_wait:" not in written


def test_the_words_of_a_chart_hold_the_texts_values():
    words = made()._repr_mimebundle_()["text/plain"]
    assert "at 16 requests" in words
    assert "service 58 ms, accumulation 75 ms, wait 16.49 ms" in words


def test_the_terms_of_a_stack_are_named_in_its_equation():
    equation = data_of(made())["equation"]
    assert [one in equation["right"] for one in ("c-wait", "c-accumulation", "c-service")]
    assert "munder" in equation["right"]
    assert "munder" not in data_of(made(curves=PARTS[:1]))["equation"]["right"]


def test_numbers_of_numpy_and_fractions_are_numbers_of_a_chart():
    other = {"batch": np.int64(16), "arrival_rate": np.float64(100), "t_fixed": Fraction(1, 20)}
    assert made(defaults=DEFAULTS | other).spec == made().spec


def test_parameters_without_a_range_stay():
    chart = made()
    assert chart.fixed == {"t_req": 0.0005}
    assert [one.name for one in chart.parameters] == ["batch", "arrival_rate", "t_fixed"]
    assert [one.whole for one in chart.parameters] == [True, False, False]


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"kind": "pie"}, ValueError, "kind must be one of"),
        ({"curves": []}, ValueError, "curves: each must have a label"),
        ({"curves": [*PARTS, PARTS[0]]}, ValueError, "curves: each must have a label"),
        ({"curves": [live.Curve(np.sin, "sine")]}, TypeError, "a quantity is a formula"),
        ({"curves": [live.Curve("load", "load", "red")]}, KeyError, "'red' is not in the palette"),
        ({"x": "t_req"}, ValueError, "ranges: the horizontal axis 't_req' needs a range"),
        ({"defaults": {"batch": 16}}, ValueError, "defaults: arrival_rate, t_fixed, t_req must"),
        ({"ranges": RANGES | {"load": (0, 1)}, "defaults": DEFAULTS | {"load": 0}}, ValueError,
         "ranges: no curve depends on load"),
        ({"defaults": DEFAULTS | {"load": 0}}, ValueError, "defaults: no curve depends on load"),
        ({"defaults": DEFAULTS | {"batch": 65}}, ValueError, "batch = 65 lies outside its range"),
        ({"ranges": RANGES | {"batch": (5, 5)}}, ValueError, "batch must go from less to more"),
        ({"ranges": RANGES | {"batch": (1, "x")}}, TypeError, "batch must be a real number"),
        ({"ranges": RANGES | {"t_fixed": (0.0, 1.0)}, "logarithmic": {"t_fixed"}}, ValueError,
         "a logarithmic t_fixed must be above 0"),
        ({"marks": [live.Mark("best")]}, ValueError, "marks: there is no curve ''"),
        ({"marks": [live.Mark("best", curve="gone")]}, ValueError, "marks: there is no curve"),
        ({"guess": live.Guess("?", "gone", 1)}, ValueError, "guess: there is no curve 'gone'"),
        ({"guess": live.Guess("?", "wait", 99)}, ValueError, "guess: at = 99 lies outside"),
        ({"equation": "batch"}, TypeError, "equation must be a formula"),
        ({"sentence": "At {t_req}."}, ValueError, "sentence: 't_req' is no parameter"),
        ({"kind": "region", "marks": [], "guess": None}, ValueError, "vertical must be"),
        ({"vertical": "batch"}, ValueError, "vertical must be a parameter with a range"),
        ({"sentence": "{total}", "kind": "line", "guess": None, "marks": []}, ValueError,
         "sentence: 'total' is no parameter"),
        ({"presets": {"s": {"a": {"load": 1}}}}, ValueError, "'a' sets load, which no curve"),
        ({"presets": {"s": {"a": {"t_fixed": 9}}}}, ValueError, "'a' sets t_fixed outside"),
        ({"presets": {"s": {"a": {"t_fixed": 0.06}}}}, ValueError, "must hold the defaults"),
        ({"units": {"load": "s"}}, ValueError, "units: load is no parameter with a range"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_chart_is_named(changes, error, words):
    with pytest.raises(error, match=re.escape(words)):
        made(**changes)


def test_what_is_wrong_with_a_quantity_is_named():
    with pytest.raises(TypeError, match="min_batch has no argument batch"):
        live.of(formulas.min_batch, batch=3)
    with pytest.raises(TypeError, match="must be one of serving.formulas"):
        live.of("batch")
    with pytest.raises(ValueError, match="one to three quantities"):
        live.grid(min, {})
    with pytest.raises(ValueError, match="lines of load must increase"):
        live.grid(min, {"load": [1, 1]})
    with pytest.raises(TypeError, match="time is no quantity of over"):
        live.grid(min, {"load": [1, 2]}, time=1)
    with pytest.raises(TypeError, match="a quantity is a formula"):
        quantity(True)
    with pytest.raises(ValueError, match="what must be one of mean_size"):
        live.window("size")
    with pytest.raises(ValueError, match="steps of one"):
        live.best("batch", range(1, 9, 2), "batch")
    with pytest.raises(ValueError, match="batch must be one of"):
        live.replay(batch=3)
