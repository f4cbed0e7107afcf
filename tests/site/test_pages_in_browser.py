"""Every page of the book, looked at in a browser."""

import pytest

from looking import look

SAMPLES = ("intro.html", "search.html", "chapters/05-batch-size.html")
"""Pages of each kind: opened from the disk as well, and tried by all rules on a telephone."""


def test_there_are_pages(site, name="chapters/05-batch-size.html"):
    assert (site / name).is_file()


def test_nothing_is_wrong_with(name, browser, served):
    faults, _ = look(browser, served + name, served, thorough=name in SAMPLES)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("page", SAMPLES)
def test_nothing_is_wrong_from_disk_with(page, browser, site):
    faults, _ = look(browser, (site / page).as_uri(), site.as_uri())
    assert not faults, "\n".join(faults)


def test_what_is_looked_at_is_there(browser, served):
    _, counts = look(browser, served + "chapters/08-tail.html", served)
    assert counts["formulas"] > 100
    assert counts["pictures"] > 1
