"""What the checks of a page find: one fault of each kind, planted in a page without any."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from looking import look
from server import serving

DOT = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='9' height='9'%3E%3C/svg%3E"
)
POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
PAGE = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>A page</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<script src="page.js" defer></script>
</head>
<body>
<main>
<h1>A page</h1>
<p>A request costs $2 and <code>\\frac12</code> of <a href="#end">an end</a>.</p>
<p><span class="math"><math><mi>x</mi><mo>=</mo><mn>1</mn></math></span></p>
<p><img src="{DOT}" alt="A dot"></p>
<div role="region" aria-label="Wide" tabindex="0" style="overflow-x: auto">
<div style="width: 900px">wide, in a box of its own</div>
</div>
<details><summary>More</summary><p id="end">The end.</p></details>
</main>
</body>
</html>
"""
STYLE = """
:root { color-scheme: light dark; --ink: #000; --ground: #fff; --link: #0645ad; }
@media (prefers-color-scheme: dark) { :root { --ink: #fff; --ground: #000; --link: #9bf; } }
body { color: var(--ink); background: var(--ground); }
a { color: var(--link); }
details p { color: #595959; background: #fff; }
"""
SCRIPT = "document.documentElement.dataset.ran = 'yes';"
END = "</main>"
BOTH = ("light", "dark")
WIDTHS = r" \[light, 1280 px\]", r" \[dark, 360 px\]"


def found(
    browser: Browser,
    folder: Path,
    page: str = PAGE,
    style: str = STYLE,
    script: str = SCRIPT,
    themes: Collection[str] = ("light",),
) -> list[str]:
    """Faults of a page, served."""
    (folder / "page.html").write_text(page, encoding="utf-8")
    (folder / "page.css").write_text(style, encoding="utf-8")
    (folder / "page.js").write_text(script, encoding="utf-8")
    with serving(folder) as address:
        return look(browser, f"{address}page.html", address, thorough=True, themes=themes)[0]


def test_a_page_without_fault(browser, tmp_path):
    assert found(browser, tmp_path, themes=BOTH) == []


def test_what_is_counted(browser, tmp_path):
    found(browser, tmp_path)
    _, counts = look(
        browser, (tmp_path / "page.html").as_uri(), tmp_path.as_uri(), themes=["light"]
    )
    assert counts == {"formulas": 1, "pictures": 1}


@pytest.mark.parametrize(
    ("script", "faults"),
    [
        ("console.error('so so')", ["console error: so so"]),
        ("console.warn('so so')", ["console warning: so so"]),
        ("throw new Error('so so')", ["uncaught: so so"]),
        ("Promise.reject(new Error('so so'))", ["uncaught: so so"]),
        ("fetch('none.json').catch(() => 0)", [r"failed request: .*none\.json \(404\)"]),
        (
            "document.querySelector('img').src = 'none.png'",
            [r"failed request: .*none\.png \(404\)", r"broken picture: .*none\.png"],
        ),
        ("eval('1')", ["console error: .*script-src.*", "uncaught: .*unsafe-eval.*"]),
        (
            "document.querySelector('h1').setAttribute('onclick', 'x()')",
            ["console error: .*inline event handler.*"],
        ),
        ("document.documentElement.dataset.theme = 'light'", ["the theme is light .* want dark"]),
    ],
)
def test_what_a_script_does_is_found(script, faults, browser, tmp_path):
    shown = found(browser, tmp_path, script=script, themes=BOTH if "theme" in script else ["light"])
    assert len(shown) == len(faults), shown
    for fault in faults:
        assert any(re.fullmatch(fault, one, re.S) for one in shown), shown


def test_requests_of_other_sites_are_found(browser, tmp_path):
    page = PAGE.replace(f'content="{POLICY}"', 'content="img-src * data:"')
    [fault] = found(browser, tmp_path, page, script="new Image().src = 'https://example.org/a.png'")
    assert fault == "foreign request: https://example.org/a.png"


@pytest.mark.parametrize(
    ("markup", "fault"),
    [
        (r"<p>so \frac{1}{2} it is</p>", r"raw TeX in main > p: \\frac"),
        ("<p>so $x_1$ it is</p>", r"raw TeX in main > p: \$x_1\$"),
        ("<p>so $$x$$ it is</p>", r"raw TeX in main > p: \$\$"),
        (r"<p>so \(x\) it is</p>", r"raw TeX in main > p: \\\("),
        ('<p><span class="math">x</span></p>', "maths not set: x"),
        (r"<p><math><mtext>\oops</mtext></math></p>", r"raw TeX in .*mtext: \\oops"),
        ("<p><math><merror><mi>x</mi></merror></math></p>", "maths with an error: x"),
        (f'<p><img src="{DOT}" alt="$x_1$ grows"></p>', r"raw TeX in main > p > img: \$x_1\$"),
        (f'<p><img src="{DOT}" alt="figure-1.svg"></p>', "picture named by its file: figure-1.svg"),
        ('<svg width="9" height="9"></svg>', "drawing without a name: main > svg"),
        ('<svg role="img" width="9" height="9"></svg>', "drawing without a name: main > svg"),
    ],
)
def test_what_the_markup_lacks_is_found(markup, fault, browser, tmp_path):
    shown = found(browser, tmp_path, PAGE.replace(END, markup + END))
    assert any(re.fullmatch(fault, one, re.S) for one in shown), shown
    # axe-core may say the same of a drawing.
    assert len([one for one in shown if not one.startswith("axe svg-img-alt")]) == 1, shown


@pytest.mark.parametrize(
    ("markup", "rule"),
    [
        (f'<p><img src="{DOT}"></p>', "image-alt"),
        ("<button></button>", "button-name"),
        ("<h4>Down too far</h4>", "heading-order"),
        ('<p style="color: #ccc; background: #fff">pale</p>', "color-contrast"),
        ('<details><summary>x</summary><p style="color: #444; background: #333">dim</p></details>',
         "color-contrast"),
        ('<p style="color: #000; background: #fff">so <b style="color: #eee">so</b></p>',
         "color-contrast"),
    ],
)  # fmt: skip
def test_what_shuts_readers_out_is_found(markup, rule, browser, tmp_path):
    shown = found(browser, tmp_path, PAGE.replace(END, markup + END), themes=BOTH)
    said = [one for one in shown if not one.startswith("picture without a text")]
    assert len(said) == 2, shown
    for fault, width in zip(said, WIDTHS, strict=True):
        assert re.fullmatch(rf"axe {rule} \(1\): .*{width}", fault)


def test_a_colour_that_fails_in_one_theme_is_found(browser, tmp_path):
    style = STYLE + "@media (prefers-color-scheme: dark) { h1 { color: #222; } }"
    [fault] = found(browser, tmp_path, style=style, themes=BOTH)
    assert re.fullmatch(r"axe color-contrast \(1\): h1.* \[dark, 360 px\]", fault)


def test_some_of_many_of_one_look_are_judged_and_others_are_not_missed(browser, tmp_path):
    same = '<p style="color: #777; background: #fff">grey</p>' * 5
    other = '<div style="background: #999"><p style="color: #777">grey</p></div>'
    shown = found(browser, tmp_path, PAGE.replace(END, same + other + END))
    assert [one.split(":")[0] for one in shown] == ["axe color-contrast (3)"]


@pytest.mark.parametrize(
    ("markup", "fault"),
    [
        ('<div style="width: 500px">x</div>', r"too wide: main > div \(5\d\d px for 360\)"),
        ("<p>" + "x" * 100 + "</p>", "the page scrolls sideways"),
        ("<table><tr>" + "<td>" + "x</td><td>" * 90 + "</td></tr></table>", "too wide: .*"),
        (
            '<div style="overflow: hidden"><div style="width: 500px">x</div></div>',
            r"cut off: main > div > div \(360 px for 360\)",
        ),
    ],
)
def test_what_does_not_fit_a_telephone_is_found(markup, fault, browser, tmp_path):
    shown = found(browser, tmp_path, PAGE.replace(END, markup + END), themes=BOTH)
    assert [one.partition(" [")[2] for one in shown] == ["light, 360 px]", "dark, 360 px]"], shown
    assert all(re.match(fault, one) for one in shown), shown


def test_requests_of_other_files_are_found(browser, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    outside = tmp_path / "outside.js"
    outside.write_text("1", encoding="utf-8")
    page = PAGE.replace("page.js", "../outside.js").replace("default-src", "script-src file:; x")
    found(browser, folder, page)
    faults, _ = look(
        browser, (folder / "page.html").as_uri(), folder.as_uri() + "/", themes=["light"]
    )
    assert f"foreign request: {outside.as_uri()}" in faults
