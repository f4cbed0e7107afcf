"""Pages are light: what they load is used; equations are MathML in a font that has their signs."""

from __future__ import annotations

import gzip
import re

import pytest

import links
from access import accessible
from lean import purge
from mathml import JOINED, joined, mathml, one_equation
from mathsymbols import explained

LOADED = re.compile(r'(?:href|src)="([^"#?]*/?_static/[^"?]*)')
LINKED = re.compile(r"""url\(["']?([^"')]+)["']?\)""")
TEXT_IN_MATHS = re.compile(r"<math\b.*?</math>", re.DOTALL)
LIMITS = {".css": 40_000, ".js": 60_000, ".woff2": 60_000}
"""Bytes that the parts of a page may have, compressed, by kind."""
ASIDE = {"_static/maths.txt"}
"""Licences: nothing loads them."""


def loaded(site, name):
    """Files of the site that a page loads, style sheets' own files included."""
    page = site / name
    found = {(page.parent / target).resolve() for target in LOADED.findall(page.read_text())}
    sheets = [path for path in found if path.suffix == ".css"]
    inner = {
        (path.parent / target).resolve()
        for path in sheets
        for target in LINKED.findall(path.read_text())
        if not target.startswith(("data:", "#"))
    }
    return found | inner


def packed(path):
    return len(path.read_bytes() if path.suffix == ".woff2" else gzip.compress(path.read_bytes()))


def test_a_page_is_light(name, site):
    files = loaded(site, name)
    for kind, limit in LIMITS.items():
        size = sum(packed(path) for path in files if path.suffix == kind)
        assert size < limit, f"{size} bytes of {kind}"


def test_every_static_file_is_loaded_by_a_page(site):
    pages = [path.relative_to(site) for path in site.rglob("*.html")]
    used = {path for name in pages for path in loaded(site, name)}
    there = {path.resolve() for path in (site / "_static").rglob("*") if path.is_file()}
    idle = {path.relative_to(site).as_posix() for path in there - used}
    assert there & used
    assert idle - ASIDE == set()


def test_scripts_wait_for_the_page(name, site):
    scripts = re.findall(r"<script\b([^>]*)>(.*?)</script>", (site / name).read_text(), re.DOTALL)
    inline = [text for _, text in scripts if text.strip()]
    early = [given for given, _ in scripts if "defer" not in given and "src=" in given]
    assert inline == []
    assert all("theme-mode.js" in given for given in early)


def signs(site):
    """Characters that the font has, from the command that it was made by."""
    told = (site / "_static" / "maths.txt").read_text()
    ranges = re.search(r"--unicodes=(\S+)", told)[1].split(",")
    bounds = [[int(end, 16) for end in one.split("-")] for one in ranges]
    return {chr(c) for pair in bounds for c in range(pair[0], pair[-1] + 1)}


def test_the_font_has_every_sign_of_the_equations(site):
    text = "".join(
        re.sub(r"<[^>]*>", "", one)
        for path in site.rglob("*.html")
        for one in TEXT_IN_MATHS.findall(path.read_text())
    )
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert len(set(text)) > 60
    assert set(text) - signs(site) - set("\n") == set()


def test_the_font_would_miss_a_sign(site):
    assert set("λ∑√") <= signs(site)
    assert "ж" not in signs(site)


def test_each_symbol_has_one_explanation_on_its_page(name, site):
    page = (site / name).read_text()
    asked = set(re.findall(r'data-tip-template="(sym-[^"]*)"', page))
    given = re.findall(r'<template id="(sym-[^"]*)"', page)
    assert sorted(asked) == sorted(given)


def test_chapters_explain_symbols(site):
    page = links.read(site / "chapters" / "05-batch-size.html")
    assert {"sym-batch", "sym-arrival_rate", "sym-utilization"} <= set(page.ids)


@pytest.mark.parametrize(
    ("sheet", "left"),
    [
        (".a{top:0}", ".a{top:0}"),
        (".gone{top:0}", ""),
        (".a .gone{top:0}", ""),
        (".gone,#b>i{top:0}", "#b>i{top:0}"),
        (".a:not(.gone){top:0}", ".a:not(.gone){top:0}"),
        (".a:not(:has(.gone)){top:0}", ".a:not(:has(.gone)){top:0}"),
        ('i[data-x=".gone"]{top:0}', 'i[data-x=".gone"]{top:0}'),
        (r".sm\:a{top:0}.a\.b{top:0}", ""),
        ("@media print{.gone{top:0}}", ""),
        ("@media print{.a{top:0}.gone{top:0}}", "@media print{.a{top:0}}"),
        ("@supports (top:0){.a{top:0}}", "@supports (top:0){.a{top:0}}"),
        ("@font-face{font-family:X;src:url(x)}.a{top:0}", ".a{top:0}"),
        (".a{--bs-x:url('data:;{}');--bs-y:1;top:var(--bs-y)}", ".a{--bs-y:1;top:var(--bs-y)}"),
        (".a{--bs-x:var(--bs-y);--bs-y:1;--own:2}", ".a{--own:2}"),
    ],
)
def test_only_rules_that_cannot_apply_go(sheet, left):
    assert purge(sheet, {"a", "b"}) == left


def test_a_box_folds_with_its_title_and_what_is_inside():
    inner = '<div class="dropdown admonition"><p class="admonition-title">I</p><div>i</div></div>'
    box = (
        '<div class="solution dropdown admonition" id="s">\n'
        f'<p class="admonition-title">To<a href="#e"> it</a></p><div>{inner}</div></div>'
        "<div>z</div>"
    )
    assert accessible(box) == (
        '<details class="solution admonition" id="s"><summary class="admonition-title">To it'
        '</summary><div><details class="admonition"><summary class="admonition-title">I</summary>'
        "<div>i</div></details></div></details><div>z</div>"
    )


def test_names_that_stand_in_every_exercise_go():
    assert accessible('<section id="exercise-content">x</section>') == "<section>x</section>"
    assert accessible('<section id="content">x</section>') == '<section id="content">x</section>'


def test_a_box_that_is_not_closed_is_an_error():
    with pytest.raises(ValueError, match="not closed"):
        accessible('<div class="dropdown admonition"><p>x</p>')


def symbols(tex):
    return re.findall(r'data-tip-template="sym-([\w-]+)"', explained(mathml(tex, block=True)))


@pytest.mark.parametrize(
    ("tex", "found"),
    [
        (r"\lambda_{\text{arr}} B", ["arrival_rate", "batch"]),
        (r"\frac{T_{\text{svc}}(B)^2}{2}", ["batch_time"]),  # the longest, raised to a power
        (r"T_{\text{fixed}}^2", ["t_fixed"]),
        (r"B^B", ["batch", "batch"]),
        (r"x_B", []),  # another symbol, which the table does not know
        (r"\bar{B} + \bar{x}", ["greedy_size"]),
        (r"\underbrace{B + 1}_{\text{x}}", ["batch"]),
        (r"\sqrt{B}", ["batch"]),
        (r"\begin{aligned} x &= B \\ &+ B \end{aligned}", ["batch", "batch"]),
    ],
)
def test_the_longest_symbol_of_the_table_is_explained(tex, found):
    assert [one for one in symbols(tex) if not one.startswith("letter")] == found


@pytest.mark.parametrize(
    ("tex", "colors"),
    [
        (r"T_{\text{svc}}(B) + x", ["service"]),
        (r"x = E[W(B)]^2", ["wait"]),
        (r"B + x", []),
        (r"\underbrace{B + 1}_{\text{wait}} + \underbrace{x}_{\text{rest}}", ["wait"]),
        (r"\overbrace{x}^{\text{service}}", ["service"]),
        (r"x_{\text{wait}}", []),  # an index is no brace
    ],
)
def test_quantities_wear_their_colour(tex, colors):
    written = explained(mathml(tex, block=True))
    assert re.findall(r'class="(?:sym )?c-(\w+)"', written) == colors


def test_what_touches_an_equation_stays_with_it():
    one = mathml("B", block=False)
    assert joined(f"at ({one}), {one} and") == f'at <span class="joined">({one}),</span> {one} and'
    assert JOINED.search(mathml("B", block=True)) is None


def test_parts_and_lines_are_set_below_each_other():
    assert one_equation("a\n\nb") == r"\begin{aligned}a\\b\end{aligned}"
    assert one_equation(r"a \\ b") == r"\begin{split}a \\ b\end{split}"
    assert one_equation("a") == "a"
