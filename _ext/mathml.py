"""Equations as MathML, written when the book is built: no script sets them in the browser."""

from __future__ import annotations

import re

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from extension import described, mend_pages
from mathsymbols import SYMBOL, explained

LONG = 24  # signs: a longer equation in a line may be wider than a phone, and scrolls by itself
JOINED = re.compile(
    r"([(\[“‘]?)((?:<span class=\"equation\">)?<math>(?:(?!</math>).)*</math>(?:</span>)?)"
    r"([.,;:!?)\]’”%]*)"
)

log = logging.getLogger(__name__)
_converter = LatexToMathML()


def mathml(tex: str, block: bool) -> str:
    r"""Convert one equation.

    Parameters
    ----------
    tex : str
        LaTeX without delimiters.
    block : bool
        Whether it stands by itself.

    Returns
    -------
    str
        A ``math`` element, well-formed XML.

    Raises
    ------
    LatexError
        If a command is not known.

    Examples
    --------
    >>> mathml(r"\rho_{\text{serv}}", block=False)
    '<math><msub><mi>ρ</mi><mtext>serv</mtext></msub></math>'
    """
    made = _converter.convert_with_local_state(tex, displaystyle=block)
    return made.replace("&ApplyFunction;", "\u2061")


def one_equation(text: str) -> str:
    r"""Set parts that a blank line separates below each other, and ``\\`` as a new line.

    Parameters
    ----------
    text : str
        Content of a block of mathematics.

    Returns
    -------
    str
        LaTeX of one equation.
    """
    parts = [part.strip() for part in text.split("\n\n") if part.strip()]
    if len(parts) > 1:
        return r"\begin{aligned}" + r"\\".join(parts) + r"\end{aligned}"
    if r"\\" in text and r"\begin" not in text:
        return r"\begin{split}" + text + r"\end{split}"
    return text


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write an equation inside a line."""
    made = _converted(node, node.astext(), block=False)
    if len(re.sub(r"<[^>]*>", "", made)) > LONG:
        made = f'<span class="equation">{made}</span>'
    self.body.append(made)
    raise nodes.SkipNode


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write an equation of its own, in a box that scrolls, with its number beside it."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    made = _converted(node, one_equation(node.astext()), block=True)
    number = f"({get_node_equation_number(self, node)})" if node["number"] else ""
    self.body.append(f'<div class="equation"{_stop(node, made, number)}>{made}</div>')
    if number:
        self.body.append(f'<span class="eqno">{number}')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def _stop(node: nodes.Element, made: str, number: str) -> str:
    """Make an equation of the text one stop of the keyboard, at which its symbols are explained."""
    if "output" in node["classes"] or not SYMBOL.search(made):
        return ""
    return (
        f' data-tip-list="" tabindex="0" role="group" aria-label="{f"Equation {number}".strip()}"'
    )


def _converted(node: nodes.Element, tex: str, block: bool) -> str:
    try:
        return explained(mathml(tex, block))
    except LatexError as error:
        log.warning("cannot read the equation %r: %s", tex, error, location=node)
        return f"<code>{nodes.unescape(tex)}</code>"


def joined(body: str) -> str:
    """Keep an equation in a line together with the brackets and signs that touch it.

    Parameters
    ----------
    body : str
        HTML of a page.

    Returns
    -------
    str
        The same page; where something touches an equation, both cannot be parted.

    Examples
    --------
    >>> joined("so <math><mi>B</mi></math>.")
    'so <span class="joined"><math><mi>B</mi></math>.</span>'
    """
    return JOINED.sub(
        lambda one: f'<span class="joined">{one[0]}</span>' if one[1] or one[3] else one[0], body
    )


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    mend_pages(app, joined)
    return described(__file__)
