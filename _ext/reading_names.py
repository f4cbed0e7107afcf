r"""How symbols are called in plain text: ``\rho_{\text{serv}}`` is ``rho_serv``, or ``ρ_serv``.

Shared by the extensions that search, that write tables as CSV and that describe pages.
"""

from __future__ import annotations

import re
import unicodedata

GREEK = {
    letter: unicodedata.name(letter).rpartition("LETTER ")[2].lower().replace("lamda", "lambda")
    for letter in map(chr, range(0x391, 0x3CA))
    if re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER \w+", unicodedata.name(letter, ""))
}
UPRIGHT = re.compile(r"\\(?:text|textrm|mathrm|operatorname)\s*\{([^{}]*)\}")
LAYOUT = re.compile(
    r"\\(?:left|right|[bB]igg?[lrm]?|[dt]?frac|quad|qquad|begin|end|displaystyle)(?![A-Za-z])"
    r"|\\[,;:! ]"
)
ACCENT = re.compile(r"\\(bar|overline|hat|tilde)\s*\{([^{}]*)\}")
INDEX = re.compile(r"_\s*\{([^{}]*)\}")


def plain(tex: str) -> str:
    r"""Write the symbols of a text in TeX by name: ``\rho_{\text{serv}}`` is ``rho_serv``."""
    named = LAYOUT.sub(" ", ACCENT.sub(r"\2_\1", UPRIGHT.sub(r"\1", tex)))
    named = re.sub(r"\\([A-Za-z]+)", r" \1", named)
    named = INDEX.sub(lambda part: "_" + "_".join(re.findall(r"\w+", part[1])), named)
    return re.sub(r"_\s+(?=\w)", "_", named).strip()


def spell(text: str) -> str:
    """Write Greek letters by name."""
    return "".join(GREEK.get(letter, letter) for letter in text)


def greek(text: str) -> str:
    """Write the names of Greek letters as letters, lower case."""
    letters = {name: letter for letter, name in GREEK.items()} | {"infty": "∞"}
    names = "|".join(sorted(letters, key=len, reverse=True))
    return re.sub(rf"(?<![A-Za-z])({names})(?![A-Za-z])", lambda one: letters[one[1]], text)
