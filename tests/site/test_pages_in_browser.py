"""Every page of the book, looked at in a browser."""

import pytest
import yaml

import pdf
from looking import look, tab

PAPER = round((210 - 2 * 18) / 25.4 * 96)
"""Width of the text on a page of the PDF [px]: A4 without its margins."""
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


def test_on_paper_nothing_is_wider_than_a_page(browser, site, tmp_path):
    config, toc = (
        yaml.safe_load((pdf.ROOT / name).read_text("utf-8")) for name in ("_config.yml", "_toc.yml")
    )
    joined = tmp_path / "joined.html"
    joined.write_text(pdf.join(site, config, toc), encoding="utf-8")
    with tab(browser, width=PAPER) as page:
        page.emulate_media(media="print")
        page.goto(joined.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
