r"""LaTeX as tokens: layout left out, one spelling for what is drawn alike."""

from __future__ import annotations

import re
from itertools import product

TOKEN = re.compile(
    r"\\text\{[^}]*\}|\\(?:begin|end)\{\w+\*?\}|\\\\(?:\[[^]]*\])?|\\[A-Za-z]+|\\."
    r"|[1-9]\d{0,2}(?:\{,\}\d{3})+(?:\.\d+)?|(?:0|[1-9]\d*)(?:\.\d+)?|\S"
)
ENVIRONMENTS = ("aligned", "align", "align*", "split", "equation", "equation*", "gathered")
PAIRS = {"{": "}", r"\left": r"\right"} | {
    rf"\begin{{{name}}}": rf"\end{{{name}}}" for name in ENVIRONMENTS
}
LAYOUT = {
    *(r"\,", r"\;", r"\:", r"\!", r"\ ", r"\quad", r"\qquad", "&", "~", r"\nonumber", r"\notag"),
    *(rf"\{size}{side}" for size, side in product(("big", "Big", "bigg", "Bigg"), ("", *"lrm"))),
    *(r"\displaystyle", r"\textstyle", *PAIRS, *PAIRS.values()),
} - {"{", "}"}
SIGNS = {"=", "+", "-", r"\cdot", r"\times"}


class EquationError(ValueError):
    """An equation that is not understood, or that differs from its formula."""


def tokens(latex: str) -> list[str]:
    r"""Split LaTeX into tokens, layout left out.

    Parameters
    ----------
    latex : str
        LaTeX of an equation.

    Returns
    -------
    list of str
        Commands, words in ``\text``, numbers and single characters.
    """
    return [token for token in TOKEN.findall(latex) if not _is_layout(token)]


def _is_layout(token: str) -> bool:
    return token in LAYOUT or token.startswith(r"\\")


def spelled(latex: str) -> list[str]:
    r"""Split LaTeX into tokens, indices and powers in braces, upright words in ``\text``.

    Parameters
    ----------
    latex : str
        LaTeX of an equation.

    Returns
    -------
    list of str
        The same tokens for all that is drawn alike.

    Raises
    ------
    EquationError
        If what opens is not closed, or an index or a power takes only one of several digits.
    """
    _check_layout(latex)
    found = tokens(re.sub(r"\\(?:mathrm|textrm)\{([^{}]*)\}", r"\\text{\1}", latex))
    result: list[str] = []
    for before, token in zip(["", *found], found, strict=False):
        if before not in {"_", "^"} or token == "{":
            result.append(token)
        elif token[0].isdigit() and len(token) > 1:
            raise EquationError(f"LaTeX takes one digit of {before}{token}: write braces")
        else:
            result += ["{", token, "}"]
    return result


def _check_layout(latex: str) -> None:
    """See that what opens is closed, and that a new line goes on with a sign."""
    found, closing = TOKEN.findall(latex), [""]
    for n, token in enumerate(found):
        after = next((one for one in found[n + 1 :] if not _is_layout(one)), "=")
        if token in PAIRS:
            closing.append(PAIRS[token])
        elif token in PAIRS.values():
            if token != closing.pop():
                raise EquationError(f"{token!r} closes nothing")
        elif (token == "&" or token.startswith(r"\\")) and closing[-1] == r"\right":
            raise EquationError(f"the brackets must close before {token!r}")
        elif token.startswith(r"\\") and after not in SIGNS:
            raise EquationError("a new line must begin with a sign")
    if closing != [""]:
        raise EquationError(f"{closing[-1]!r} is missing")
