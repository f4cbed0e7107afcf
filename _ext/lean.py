"""Pages that carry what they use: one style sheet without unused rules, few scripts, all deferred.

The theme brings styles and scripts for all that a site may hold. What no page and no script of
this book names is left out when the pages are written; a rule is kept if in doubt.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import tinycss2
from sphinx.application import Sphinx

from extension import described

SHEETS = (  # of theme and extensions, in the order of their precedence
    *("basic.css", "styles/pydata-sphinx-theme.css", "pygments.css"),
    *("styles/sphinx-book-theme.css", "mystnb.*.css", "exercise.css"),
    *("proof.css", "sphinx-design.min.css"),
)
OWN = ("palette.css", "tips.css", "reading.css", "book.css")  # of every page, added as they are
BUNDLE = "theme.css"
LEFT_OUT = {  # style sheets and scripts that book.css, book.js or plain HTML stand in for
    *(
        "styles/theme.css",
        "togglebutton.css",
        "copybutton.css",
        "togglebutton.js",
        "design-tabs.js",
    ),
    *("clipboard.min.js", "copybutton.js", "copybutton_funcs.js", "sphinx_highlight.js"),
    *("scripts/bootstrap.js", "scripts/fontawesome.js", "theme-mode.js"),
}
UNUSED = (  # what is removed from the finished site
    *("vendor", "locales", "images", "scripts/*.map", "styles", "*webpack-macros.html"),
    *("scripts/bootstrap*", "scripts/fontawesome*", "file.png", "minus.png", "plus.png"),
    *("*.svg", *SHEETS, *OWN, *(name for name in LEFT_OUT if name != "theme-mode.js")),
)
KEPT = {"favicon.svg", "images/logo_binder.svg", "images/logo_colab.png"}
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'"
)
NAME = re.compile(r"[\w-]+")
NAMED = re.compile(r"[.#]((?:[\w-]|\\.)+)")
QUOTED = r"""\"[^"]*\"|'[^']*'"""
VALUE = rf"(?:{QUOTED}|\((?:{QUOTED}|\([^)]*\)|[^)(])*\)|[^;{{}}\"'()])*"
VARIABLE = re.compile(rf"(?<=[{{;\s])(--(?:bs|fa|sd|tw)-[\w-]+)\s*:{VALUE}(?:;|(?=\}}))")
ASIDE = re.compile(r"\[[^]]*\]|:(?:not|where|has)\((?:[^()]|\([^()]*\))*\)")


def fit_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Name the scripts and style sheets of one page, and what it may load."""
    page = [js for js in context["script_files"] if _is_needed(js.filename, pagename)]
    for script in page:
        script.attributes["defer"] = "defer"
    context["script_files"][:] = page
    others = context["css_files"]
    own = [css for css in others if _name(css.filename) not in LEFT_OUT and not _bundled(css)]
    context["css_files"][:] = [f"_static/{BUNDLE}?v={version(Path(app.outdir) / '_static')}", *own]
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}" />'
    context["metatags"] = policy + context.get("metatags", "")


@cache
def version(static: Path) -> str:
    """Eight digits that change with the sheets: browsers keep what has an address that they know.

    Parameters
    ----------
    static : Path
        Where Sphinx has put the sheets before it writes the first page.

    Returns
    -------
    str
        Part of a digest.
    """
    return hashlib.sha256(sheets(static, (*SHEETS, *OWN)).encode()).hexdigest()[:8]


def sheets(static: Path, names: tuple[str, ...]) -> str:
    """Join style sheets, in order.

    Parameters
    ----------
    static : Path
        Where they stand.
    names : tuple of str
        Their names, perhaps with ``*``; who is not there is left out.

    Returns
    -------
    str
        One style sheet.
    """
    found = [path for name in names for path in sorted(static.glob(name))]
    return "\n".join(path.read_text("utf-8") for path in found)


def _name(filename: object) -> str:
    return str(filename or "").removeprefix("_static/").split("?")[0]


def _bundled(css: Any) -> bool:
    return any(PurePosixPath(_name(css.filename)).match(sheet) for sheet in (*SHEETS, *OWN))


def _is_needed(filename: object, pagename: str) -> bool:
    name = _name(filename)
    return bool(name) and name not in LEFT_OUT and (name != "doctools.js" or pagename == "search")


def finish(app: Sphinx, error: Exception | None) -> None:
    """Write the style sheet that the pages share and remove what none of them loads."""
    if error or app.builder.format != "html":
        return
    site = Path(app.outdir)
    static = site / "_static"
    used = names_in([*site.rglob("*.html"), *static.rglob("*.js")])
    if css := sheets(static, SHEETS):  # left over from the build before, if no page was written
        (static / BUNDLE).write_text(purge(css, used) + sheets(static, OWN), "utf-8")
    for pattern in UNUSED:
        for path in list(static.glob(pattern)):
            if path.relative_to(static).as_posix() in KEPT:
                continue
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def names_in(files: list[Path]) -> set[str]:
    """Collect every word of some files, among them all classes and identifiers.

    Parameters
    ----------
    files : list of Path
        Pages and scripts; the theme's scripts that no page loads do not count.

    Returns
    -------
    set of str
        Words of letters, digits, ``_`` and ``-``.
    """
    skipped = {Path(name).name for name in LEFT_OUT}
    kept = [path for path in files if path.name not in skipped]
    return {name for path in kept for name in NAME.findall(path.read_text("utf-8"))}


def purge(css: str, used: set[str]) -> str:
    """Drop rules whose classes or identifiers occur nowhere, and fonts and variables left over.

    Parameters
    ----------
    css : str
        A style sheet.
    used : set of str
        Words that occur in pages and scripts.

    Returns
    -------
    str
        The style sheet without comments, and without rules that cannot apply.

    Examples
    --------
    >>> purge("a.left, .gone, b:not(.gone) { top: 0 } /* c */ .gone { top: 1 }", {"left"})
    'a.left,b:not(.gone){top: 0}'
    """
    rules = tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True)
    kept = "".join(_rule(rule, used) for rule in rules)
    return _without_idle_variables(kept)


def _rule(rule: Any, used: set[str]) -> str:
    if rule.type == "qualified-rule":
        selectors = [one for one in _selectors(rule.prelude) if _may_match(one, used)]
        body = tinycss2.serialize(rule.content).strip()
        return f"{','.join(selectors)}{{{body}}}" if selectors and body else ""
    if rule.type != "at-rule" or rule.at_keyword in {"charset", "font-face"}:
        return ""
    if rule.content is None or rule.at_keyword not in {"media", "supports"}:
        return rule.serialize()
    inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
    body = "".join(_rule(one, used) for one in inner)
    prelude = tinycss2.serialize(rule.prelude).strip()
    return f"@{rule.at_keyword} {prelude}{{{body}}}" if body else ""


def _selectors(prelude: list[Any]) -> list[str]:
    found: list[list[Any]] = [[]]
    for token in prelude:
        found.append([]) if token == "," else found[-1].append(token)
    return [tinycss2.serialize(one).strip() for one in found]


def _may_match(selector: str, used: set[str]) -> bool:
    names = NAMED.findall(ASIDE.sub("", selector))
    return all(name.replace("\\", "") in used for name in names)


def _without_idle_variables(css: str) -> str:
    """Drop custom properties of Bootstrap and Font Awesome that nothing reads, again and again."""
    while True:
        read = set(re.findall(r"var\(\s*(--[\w-]+)", css))
        thinner = VARIABLE.sub(lambda one, read=read: one[0] if one[1] in read else "", css)
        if thinner == css:
            return css
        css = thinner


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.connect("html-page-context", fit_page, priority=950)
    app.connect("build-finished", finish, priority=950)
    return described(__file__)
