"""Each page forbids scripts that it does not know, and asks nobody but its own site."""

from __future__ import annotations

import pytest

import links

GUARDED = ("default-src", "script-src", "object-src", "base-uri")


def weaknesses(policy: str | None) -> list[str]:
    """What a content security policy allows that it should not."""
    rules = {
        rule.split()[0]: rule.split()[1:] for rule in (policy or "").split(";") if rule.strip()
    }
    faults = [f"no {name}" for name in GUARDED if name not in rules]
    for name in {"default-src", "script-src"} & set(rules):
        faults += [
            f"{name} {value}"
            for value in rules[name]
            if value in ("'unsafe-inline'", "'unsafe-eval'", "*") or value.startswith("http")
        ]
    return faults


def test_pages_have_a_policy(name, site):
    page = links.read(site / name)
    if name != "index.html" or page.ids:
        assert weaknesses(page.policy) == []


GOOD = "default-src 'self'; script-src 'self' 'sha256-x'; object-src 'none'; base-uri 'none'"


def test_a_good_policy():
    assert weaknesses(GOOD) == []


@pytest.mark.parametrize(
    ("policy", "fault"),
    [
        (GOOD.replace("object-src 'none';", ""), "no object-src"),
        (GOOD.replace("'sha256-x'", "'unsafe-inline'"), "script-src 'unsafe-inline'"),
        (GOOD.replace("'sha256-x'", "'unsafe-eval'"), "script-src 'unsafe-eval'"),
        (GOOD.replace("default-src 'self'", "default-src *"), "default-src *"),
        (GOOD.replace("'sha256-x'", "https://example.org"), "script-src https://example.org"),
    ],
)
def test_a_weak_policy_is_found(policy, fault):
    assert weaknesses(policy) == [fault]


def test_no_policy_is_found():
    assert len(weaknesses(None)) == 4
