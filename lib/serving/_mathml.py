r"""Equations as MathML, which a page shows without a script and without fonts of its own.

It knows the LaTeX that the notation table and the formulas are written in, and no other. Each
symbol of the table becomes an ``mrow`` that carries its Python name, so that a page can put the
symbol's present value in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from unicodedata import lookup

from . import notation
from ._latex import EquationError, spelled

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lamda mu nu xi omicron pi rho sigma"
)
_GREEK += " tau upsilon phi chi psi omega"
_LETTERS = {
    "\\" + letter.replace("lamda", "lambda"): lookup(f"Greek small letter {letter}")
    for letter in _GREEK.split()
}
_LETTERS |= {name[:1] + name[1:].capitalize(): sign.upper() for name, sign in _LETTERS.items()}
_LETTERS |= {r"\epsilon": "ϵ", r"\varepsilon": "ε", r"\phi": "ϕ", r"\varphi": "φ", r"\infty": "∞"}
_NAMES = {r"\ln": "ln", r"\log": "log", r"\exp": "exp", r"\max": "max", r"\min": "min"}
_SIGNS = {
    **{r"\mid": "∣", r"\le": "≤", r"\leq": "≤", r"\ge": "≥", r"\geq": "≥", r"\cdot": "·"},
    **{r"\times": "×", r"\ne": "≠", r"\neq": "≠", "-": "−", "+": "+", "=": "=", ",": ",", "/": "/"},
    **{"<": "&lt;", ">": "&gt;", "*": "∗", "|": "|"},
}
_BRACKETS = {"(": ")", "[": "]"}
_TIMES = "<mo class='times'>&#8290;</mo>"
_SYMBOLS = sorted(
    ((spelled(entry.latex), entry) for entry in notation.TABLE), key=lambda pair: -len(pair[0])
)


def math(latex: str, block: bool = False, colors: Mapping[str, str] | None = None) -> str:
    r"""Write LaTeX as a MathML element.

    Parameters
    ----------
    latex : str
        LaTeX of an expression, an equation or a comparison.
    block : bool
        Whether it stands on a line of its own, and may be high.
    colors : mapping of str to str, optional
        Words under a brace to the name of the palette's colour for the term.

    Returns
    -------
    str
        A ``math`` element; symbols of the notation table are rows with ``data-symbol``.

    Raises
    ------
    EquationError
        If the LaTeX holds what the formulas of the book do not.

    Examples
    --------
    >>> print(math("2 B"))  # doctest: +ELLIPSIS
    <math><mn>2</mn><mo class='times'>&#8290;</mo><mrow data-symbol='batch'><mi>B</mi></mrow></math>
    """
    writer = _Writer(spelled(latex), colors=colors or {})
    display = " displaystyle='true'" if block else ""
    return f"<math{display}>{writer.row('')}</math>"


def symbol(name: str) -> str:
    """Write the symbol of a quantity as MathML.

    Parameters
    ----------
    name : str
        Python name, as in the notation table.

    Returns
    -------
    str
        A ``math`` element.

    Raises
    ------
    KeyError
        If the table has no such symbol.
    """
    writer = _Writer(spelled(notation.by_name(name).latex), known=False)
    return f"<math>{writer.row('')}</math>"


class _Writer:
    """Recursive descent over tokens: rows of atoms with indices and powers."""

    def __init__(
        self, tokens: list[str], known: bool = True, colors: Mapping[str, str] | None = None
    ) -> None:
        self.tokens, self.at, self.known, self.colors = tokens, 0, known, colors or {}

    @property
    def next(self) -> str:
        """The token that comes next, empty at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        """Step over a token and return it."""
        self.at += 1
        return self.tokens[self.at - 1]

    def row(self, end: str) -> str:
        """Write what stands up to a closing token, with products marked."""
        parts: list[str] = []
        factor = False  # whether what was written last can be multiplied by what comes next
        while self.next != end:
            if not self.next:
                raise EquationError(f"{end!r} is missing")
            operator = self.next in _SIGNS
            named = self.next in _NAMES
            if factor and not operator:
                parts.append(_TIMES if self.known else "")
            parts.append(self.scripted())
            factor = not operator and not named
        if end:
            self.take()
        return "".join(parts)

    def group(self) -> str:
        """Write a braced expression as one element."""
        if self.next != "{":
            raise EquationError("braces are missing")
        self.take()
        return f"<mrow>{self.row('}')}</mrow>"

    def scripted(self) -> str:
        """Write an atom with its index and its power."""
        base, scripts = self.atom(), {}
        while self.next in {"_", "^"}:
            place = self.take()
            scripts[place] = self.group()
        below, above = scripts.get("_"), scripts.get("^")
        if below and above:
            return f"<msubsup>{base}{below}{above}</msubsup>"
        if below:
            return f"<msub>{base}{below}</msub>"
        return f"<msup>{base}{above}</msup>" if above else base

    def atom(self) -> str:
        """Write a symbol of the table, a number, a bracket, a fraction or a letter."""
        if self.known and (found := self.entry()):
            return found
        token = self.take()
        if token in _LETTERS or len(token) == 1 and token.isalpha():
            return f"<mi>{_LETTERS.get(token, token)}</mi>"
        if token[0].isdigit():
            return f"<mn>{token.replace('{,}', ',')}</mn>"
        if token in _SIGNS:
            return f"<mo>{_SIGNS[token]}</mo>"
        if token in _NAMES:
            return f"<mi>{_NAMES[token]}</mi>"
        if token.startswith(r"\text{"):
            return f"<mtext>{escape(token[6:-1])}</mtext>"
        if token in _BRACKETS:
            return self.bracket(token)
        if token == "{":
            return f"<mrow>{self.row('}')}</mrow>"
        return self.command(token)

    def bracket(self, opening: str) -> str:
        """Write a bracket and what is in it."""
        closing = _BRACKETS[opening]
        inner = self.row(closing)
        return f"<mrow><mo>{opening}</mo>{inner}<mo>{closing}</mo></mrow>"

    def command(self, token: str) -> str:
        """Write a command with its arguments."""
        if token == r"\frac":
            return f"<mfrac>{self.group()}{self.group()}</mfrac>"
        if token == r"\sqrt":
            return f"<msqrt>{self.group()}</msqrt>"
        if token in {r"\bar", r"\overline"}:
            return f'<mover>{self.group()}<mo stretchy="true">¯</mo></mover>'
        if token == r"\underbrace":
            return self.brace()
        raise EquationError(f"{token!r} has no MathML here")

    def brace(self) -> str:
        """Write a brace under a term, and the words below it in the colour of that name."""
        inner = f'<munder>{self.group()}<mo stretchy="true">⏟</mo></munder>'
        if self.next != "_":
            raise EquationError("a brace needs words below it")
        self.take()
        words = self.tokens[self.at + 1].removeprefix(r"\text{").removesuffix("}")
        color = self.colors.get(words, "total")
        return f"<munder class='c-{color}'>{inner}{self.group()}</munder>"

    def entry(self) -> str:
        """Write the longest symbol of the table, if one is next."""
        for pattern, entry in _SYMBOLS:
            if self.tokens[self.at : self.at + len(pattern)] == pattern:
                self.at += len(pattern)
                inner = _Writer(pattern, known=False).row("")
                return f"<mrow data-symbol='{entry.name}'>{inner}</mrow>"
        return ""
