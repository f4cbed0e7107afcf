"""The search finds symbols, means, percentiles and numbers, from the disk as well."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from reading_search import words

FIRST = {
    "P99": "chapters/appendix-glossary.html#term-percentile",
    "ρ_serv": "chapters/appendix-notation.html#symbol-utilization",
    "rho_serv": "chapters/appendix-notation.html#symbol-utilization",
    "λ_arr": "chapters/appendix-notation.html#symbol-arrival-rate",
    "lambda_arr": "chapters/appendix-notation.html#symbol-arrival-rate",
    "KV": "chapters/appendix-glossary.html#term-key-value-cache",
    "E[T]": "chapters/appendix-notation.html#symbol-mean-response",
    "acceptance rate": "chapters/appendix-glossary.html#term-acceptance-rate",
}
"""What the search offers first; the address begins so."""
AMONG = {
    "P99": "chapters/08-tail.html",
    "ρ_serv": "chapters/05-batch-size.html",
    "p99 latency": "chapters/14-operating-region.html",
    "KV": "chapters/11-cache-size.html",
    "175": "chapters/11-cache-size.html",
    "9,641": "chapters/05-batch-size.html",
    "9641 times": "chapters/05-batch-size.html",
}
"""A page that must be among what is found."""
TEXTS = [
    "ρ_serv rises; P99 is 164.7 ms.",
    "E[T_batch] and e[T]; a[0], sizes[i]",
    "9,641 times 1,024,000 and 3,14",
    "M/G/c/K, T_svc(B), surrogate_wait — Pollaczek–Khinchine",
    "Емкость очереди, ΔT, μ∞",
]


@pytest.fixture(scope="module")
def search(browser, site):
    """A function that asks the search and returns the addresses it offers, the best first."""
    page = browser.new_page()

    def ask(query: str) -> list[str]:
        page.goto(f"{(site / 'search.html').as_uri()}?q={quote(query)}")
        page.wait_for_function(
            "() => document.querySelector('.search-summary')?.innerText.length > 0"
        )
        links = page.locator("#search-results ul.search li > a").all()
        return [link.get_attribute("href") for link in links]

    yield ask
    page.close()


@pytest.mark.parametrize(("query", "first"), FIRST.items())
def test_a_symbol_or_a_term_leads_to_its_meaning(query, first, search):
    assert search(query)[0].startswith(first)


@pytest.mark.parametrize(("query", "page"), AMONG.items())
def test_the_pages_that_use_it_are_found(query, page, search):
    assert page in search(query)


def test_what_is_nowhere_is_not_found(search):
    assert search("ρ_nowhere") == [] and search("31415926") == []


def test_a_query_is_split_as_the_pages_are(browser, site):
    page = browser.new_page()
    page.goto((site / "search.html").as_uri())
    for text in TEXTS:
        assert page.evaluate("splitQuery", text) == words(text)
    page.close()
