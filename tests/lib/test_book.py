"""Claims, tables and explorations."""

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pytest

from serving import book
from serving.book import ClaimError, claim, explore, given, table


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("149.5 ms", 0.14949),
        ("B = 10", 10),
        ("36.3 %", 0.3625),
        ("2,000 requests/s", 2000),
        ("−2.1 %", -0.0214),
        ("-2.1 %", -0.0214),
        ("9 GiB", 9 * 2**30),
    ],
)
def test_claims_that_hold(text, value):
    claim(text, value)
    given(text, value)


@pytest.mark.parametrize(
    ("text", "value"), [("149.5 ms", 0.1496), ("B = 10", 10.6), ("9 GB", 9 * 2**30), ("2 s", -2)]
)
def test_stale_claims(text, value):
    with pytest.raises(ClaimError, match="the text says"):
        claim(text, value)
    with pytest.raises(ClaimError, match="the text says"):
        given(text, value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_claims_about_nothing(value):
    with pytest.raises(ValueError, match="finite"):
        claim("1 s", value)
    with pytest.raises(TypeError, match="real number"):
        claim("1 s", None)


def test_table_converts_rounds_and_names_what_is_missing():
    shown = table(
        {
            "B": np.array([8, 16]),
            "wait (ms)": [0.0561, np.inf],
            "share (%)": [0.3625, None],
            "name": ["a", "b"],
            "rate (requests/s)": [148.148, 275.0],
        },
        digits={"rate (requests/s)": 2},
    )
    assert shown.frame.values.tolist() == [
        ["8", "56.1", "36.3", "a", "148.15"],
        ["16", "unstable", "–", "b", "275.00"],
    ]
    assert "<td>56.1</td>" in shown._repr_html_()


def test_a_first_column_of_names_heads_the_rows():
    shown = table({"server": ["one", "two"], "wait (ms)": [0.001, 0.002]})
    assert shown.frame.index.tolist() == ["one", "two"]
    assert "<th>one</th>" in shown._repr_html_() and "<th>server</th>" in shown._repr_html_()


def test_an_infinity_is_called_what_it_is():
    columns = {"B": [1, 2], "ratio": [float("inf"), 2.0]}
    assert table(columns).frame["ratio"].tolist() == ["unstable", "2.0"]
    assert table(columns, infinity="no limit").frame["ratio"].tolist() == ["no limit", "2.0"]


def test_tables_that_cannot_be_right():
    with pytest.raises(ValueError, match="equal lengths"):
        table({})
    with pytest.raises(ValueError, match="equal lengths"):
        table({"B": [1, 2], "C": [1]})
    with pytest.raises(ValueError, match="finite"):
        table({"B": [float("nan")]})
    with pytest.raises(ValueError, match="finite"):
        table({"B": [float("-inf")]})


def test_exploration_is_a_still_picture_for_runners(monkeypatch, capsys):
    calls = []

    def draw(batch=8):
        calls.append(batch)

    monkeypatch.setenv(book.STILL, "1")
    explore(draw, batch=(1, 64))
    assert calls == [8]
    assert "Markdown" in capsys.readouterr().out
    plt.close("all")


def test_exploration_is_a_widget_for_readers(monkeypatch):
    made = []
    monkeypatch.delenv(book.STILL, raising=False)
    monkeypatch.setattr(ipywidgets, "interact", lambda f, **ranges: made.append(ranges))
    explore(lambda batch=8: None, batch=(1, 64))
    assert made == [{"batch": (1, 64)}]


def test_explorations_that_would_not_move():
    with pytest.raises(TypeError, match=r"without default: \['batch'\]"):
        explore(lambda batch: None, batch=(1, 64))
    with pytest.raises(TypeError, match=r"without parameter: \['size'\]"):
        explore(lambda batch=8: None, size=(1, 64))


@pytest.mark.parametrize(
    ("default", "allowed"),
    [(65, (1, 64)), (0, (1, 64, 1)), (3, [1, 12, 96]), ("c", [("A", "a"), ("B", "b")])],
)
def test_a_picture_that_no_slider_can_show_is_refused(default, allowed):
    with pytest.raises(ValueError, match="lies outside its range"):
        explore(lambda batch=default: None, batch=allowed)
