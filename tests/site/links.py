"""What a page points at, read from its source: files, anchors, other sites, inline scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

POINTERS = {"href", "src", "poster", "data", "action"}
LINKS = {"a", "area"}
"""Elements that lead elsewhere when they are followed; all others load what they name."""
NAMED_ONLY = {"canonical", "license", "author"}
"""Relations of a ``link`` element that no browser loads."""


class Source(HTMLParser):
    """Ids and pointers of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.pointers: list[tuple[str, str]] = []
        self.handlers: list[str] = []
        self.policy: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the attributes of one element."""
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.ids[values["id"]] += 1
        self.handlers += [f"<{tag} {name}>" for name in values if name.startswith("on")]
        if tag == "meta":
            self._meta(values)
        elif not (tag == "link" and NAMED_ONLY & set(values.get("rel", "").split())):
            self.pointers += [(tag, values[name]) for name in sorted(POINTERS & set(values))]

    def _meta(self, values: dict[str, str]) -> None:
        match values.get("http-equiv", "").lower():
            case "refresh":
                self.pointers.append(("a", values["content"].partition("url=")[2]))
            case "content-security-policy":
                self.policy = values["content"]


@cache
def read(path: Path) -> Source:
    """A page, read once."""
    return Source(path.read_text(encoding="utf-8"))


def check(path: Path, site: Path) -> list[str]:
    """Everything that a page points at in vain, and what no page may hold."""
    page = read(path)
    return [
        *(f"the id {name!r} is there {n} times" for name, n in page.ids.items() if n > 1),
        *(f"script in an attribute: {handler}" for handler in page.handlers),
        *(
            f
            for tag, target in dict.fromkeys(page.pointers)
            for f in _pointer(tag, target, path, site)
        ),
    ]


def _pointer(tag: str, target: str, path: Path, site: Path) -> Iterator[str]:
    parts = urlsplit(target)
    if parts.scheme == "javascript":
        yield f"script in an address: {target}"
    elif parts.scheme or parts.netloc:
        if tag not in LINKS and parts.scheme != "data":
            yield f"<{tag}> loads from elsewhere: {target}"
    elif parts.path.startswith("/"):
        yield f"not relative, so lost in a folder or on a disk: {target}"
    else:
        yield from _file(target, unquote(parts.path), unquote(parts.fragment), path, site)


def _file(target: str, name: str, anchor: str, path: Path, site: Path) -> Iterator[str]:
    file = (path.parent / name).resolve() if name else path
    if not file.is_relative_to(site.resolve()):
        yield f"outside the site: {target}"
    elif not file.is_file():
        yield f"no such file: {target}"
    elif anchor and anchor != "top" and file.suffix == ".html" and anchor not in read(file).ids:
        yield f"no such anchor: {target}"
