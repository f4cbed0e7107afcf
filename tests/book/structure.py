"""The shape of a chapter: its opening, its badges, its closing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from nbformat import NotebookNode
from pybtex.database import parse_file

import exercises
import proofs
import selftest
from notebooks import (
    ROOT,
    Block,
    Directive,
    Equation,
    Heading,
    blocks,
    calls,
    chapter_label,
    citations,
    code_cells,
    links,
    markdown_cells,
    numbered_chapters,
    plain,
    tree,
)
from prose import Segment, collect, pattern, segments, tabulated

FIRST_SCREEN = 6
"""Something to operate stands among so many first cells."""
BADGE = re.compile(r"(?:.*/)?badges\.md(?:#(.*))?")
BADGES = ("proved", "exact", "simulated", "measured", "rule-of-thumb")
CLOSING = ("What to take away", "Limits", selftest.HEADING, "Exercises")
KNOWN = "What to know first"
BOXES = ("Guess first", "If you run a server")
"""Titles of admonitions that a chapter has at least once."""
LINK = "\N{OBJECT REPLACEMENT CHARACTER}"
_ONE = rf"(?:\d+[a-z]?\b|{LINK})"
NAMED = re.compile(rf"\b[Cc]hapter(?:\s+\d+[a-z]?\b|s\s+{_ONE}(?:(?:,|\s|–|and|or|to)+{_ONE})*)")
"""One chapter that a sentence names, or several as a list or a range."""


@dataclass
class Section:
    """What stands under one ``##`` heading."""

    title: str
    blocks: list[Block] = field(default_factory=list)
    code: list[NotebookNode] = field(default_factory=list)

    def badges(self) -> list[tuple[str, str]]:
        """Anchor and words of each badge."""
        found = ((BADGE.fullmatch(t), words) for b in self.blocks for t, words in links(b))
        return [(match[1] or "", words) for match, words in found if match]


def check(notebook: NotebookNode, name: str) -> list[str]:
    """Everything that a numbered chapter lacks."""
    number, parts = chapter_label(name), sections(notebook)
    assert number, f"{name} has no number"
    faults = [
        *_opening(notebook, parts[0], number),
        *_boxes(parts),
        *(f"section {part.title!r}: {fault}" for part in parts for fault in _results(part)),
        *_closing(notebook, parts, number),
        *exercises.check(notebook, number),
        *selftest.check(notebook, name.partition("-")[0]),
        *_citations(parts),
    ]
    return [f"{name}: {fault}" for fault in faults]


def sections(notebook: NotebookNode) -> list[Section]:
    """Sections of a chapter; the first holds what stands before the first ``##``."""
    parts = [Section("(opening)")]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            parts[-1].code.append(cell)
        elif cell.cell_type == "markdown":
            for block in blocks(cell.source):
                if isinstance(block, Heading) and block.level == 2:
                    parts.append(Section(plain(block.inline)))
                parts[-1].blocks.append(block)
    return parts


def _opening(notebook: NotebookNode, opening: Section, number: str) -> Iterator[str]:
    first = notebook.cells[0]
    title = rf"# {said(number)}\. [^\n]+\?(\n|$)"
    if first.cell_type != "markdown" or not re.match(title, first.source):
        yield f"cell 0: it must begin with the title '# {said(number)}. A question?'"
    text = " ".join(plain(getattr(block, "inline", ())) for block in opening.blocks)
    objectives = re.findall(r"\bLO-\d\d[a-z]?\.\d+\b", text)
    wanted = [f"LO-{number}.{k}" for k in range(1, max(3, len(objectives)) + 1)]
    if objectives != wanted:
        yield f"the opening must name the objectives {', '.join(wanted)}, has {objectives}"
    if f"{KNOWN}:" not in text:
        yield f"the opening must say '{KNOWN}: …'"
    importing = [n for n, cell in code_cells(notebook) if imports(cell.source)]
    code = [n for n, _ in code_cells(notebook)]
    if importing != code[:1] or not code:
        yield f"the first code cell alone must import; cells {importing} do"
    exploring = [n for n, cell in code_cells(notebook) if calls(cell.source, "explore", "chart")]
    if not exploring or exploring[0] >= FIRST_SCREEN:
        yield f"nothing to operate in the first {FIRST_SCREEN} cells: call explore or live.chart"


def _boxes(parts: Sequence[Section]) -> Iterator[str]:
    directives = [b for part in parts for b in part.blocks if isinstance(b, Directive)]
    titles = {one.argument for one in directives if one.name == "admonition"}
    yield from (f"no admonition {title!r}: write one" for title in BOXES if title not in titles)


def said(label: str) -> str:
    """A chapter's number as titles and sentences have it, ``5`` or ``20a``."""
    return label.removeprefix("0")


def imports(source: str) -> bool:
    """Whether a cell imports anything."""
    return any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in ast.walk(tree(source)))


def _results(part: Section) -> Iterator[str]:
    known = [anchor for anchor, _ in part.badges() if anchor in BADGES]
    for anchor, words in part.badges():
        if anchor not in BADGES:
            yield f"there is no badge {anchor!r}: use one of {', '.join(BADGES)}"
        elif words != anchor.replace("-", " "):
            yield f"the badge {anchor} must read {anchor.replace('-', ' ')!r}, reads {words!r}"
    if has_results(part) and not known and part.title not in CLOSING:
        yield "results without a badge: link one of badges.md"
    if "proved" in known and not proves(part):
        yield (
            "proved, but no cell shows 0 from simplify or True that is not so for any names, "
            "and there is no {prf:proof}"
        )
    borrowed = {"measured", "rule-of-thumb"} & set(known)
    if borrowed and not any(True for block in part.blocks for _ in citations(block)):
        yield f"{' and '.join(sorted(borrowed))}, but nothing is cited: add a cite role"


def has_results(part: Section) -> bool:
    """Whether a section holds a labelled equation, a claim or a table, below the opening."""
    labelled = any(isinstance(block, Equation) and block.label for block in part.blocks)
    shown = any(calls(cell.source, "claim", "table") or any(tabulated(cell)) for cell in part.code)
    return part.title != "(opening)" and (labelled or shown)


def proves(part: Section) -> bool:
    """Whether a section shows a proof."""
    written = any(isinstance(b, Directive) and b.name == "prf:proof" for b in part.blocks)
    return written or any(map(proofs.shows, part.code))


def _closing(notebook: NotebookNode, parts: Sequence[Section], number: str) -> Iterator[str]:
    titles = tuple(part.title for part in parts)
    if titles[-len(CLOSING) :] != CLOSING:
        yield f"the last sections must be {', '.join(CLOSING)}; they are {', '.join(titles[-4:])}"
    promised = [p.text for p in collect(notebook)[0] if p.promised]
    if CLOSING[0] in titles and not any(
        pattern(text).search(segment.text)
        for text in promised
        for segment in _under(notebook, CLOSING[0])
    ):
        yield f"section {CLOSING[0]!r}: say the result with a number that a cell claims"


def _under(notebook: NotebookNode, title: str) -> list[Segment]:
    text = "\n\n".join(source for _, source in markdown_cells(notebook))
    body = re.split(rf"^## {title}\s*$", text, flags=re.M)[-1]
    return segments(re.split(r"^## ", body, flags=re.M)[0])


def _citations(parts: Sequence[Section]) -> Iterator[str]:
    cited = [key for part in parts for block in part.blocks for key in citations(block)]
    if len(set(cited)) < 2:
        yield "fewer than two works are cited"
    for key in sorted(set(cited) - bibliography()):
        yield f"{key!r} is not in references.bib"


@cache
def bibliography() -> frozenset[str]:
    """Keys of the bibliography."""
    return frozenset(parse_file(ROOT / "references.bib").entries)


def unlinked(notebook: NotebookNode, name: str) -> list[str]:
    """Chapters that exist and that the text, or text that a cell shows, names without a link."""
    files = {said(chapter_label(path.name)): path.name for path in numbered_chapters()}
    files.pop(said(chapter_label(name)), None)
    shown = [
        (n, output.get("data", {}).get("text/markdown", ""))
        for n, cell in code_cells(notebook)
        for output in cell.get("outputs", [])
    ]
    return [
        f"{name}: cell {n}: link {number} to {files[number]} in {match[0]!r}"
        for n, source in [*markdown_cells(notebook), *shown]
        for block in blocks(source)
        for match in NAMED.finditer(_outside_links(block))
        for number in re.findall(r"\d+[a-z]?\b", match[0])
        if number in files
    ]


def _outside_links(block: Block) -> str:
    words, depth = "", 0
    for token in getattr(block, "inline", ()):
        depth += token.nesting if token.type.startswith("link_") else 0
        if token.type == "link_close":
            words += LINK
        elif not depth:
            words += token.content if not token.type.endswith("break") else " "
    return words
