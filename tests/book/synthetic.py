"""A small chapter without faults, and ways to plant one."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from nbformat import NotebookNode, v4

from serving import LinearService, book

NAME = "05-synthetic.ipynb"
ALT = "The load falls as the batch grows, and flattens out towards five percent."
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M 0 0 L 10 5"/></svg>'


def text(shown: str) -> NotebookNode:
    """Output of a cell that ends in a value."""
    return v4.new_output("execute_result", {"text/plain": shown}, execution_count=1)


def picture() -> NotebookNode:
    """Output of a cell that draws."""
    return v4.new_output("display_data", {"image/svg+xml": SVG, "text/plain": "<Figure>"})


def shown(table: book.Table) -> NotebookNode:
    """Output of a cell that ends in a table."""
    data = {"text/html": table._repr_html_(), "text/plain": repr(table)}
    return v4.new_output("execute_result", data, execution_count=1)


def stream(name: str, content: str) -> NotebookNode:
    """Output of a cell that prints."""
    return v4.new_output("stream", name=name, text=content)


def markdown(source: str) -> NotebookNode:
    """Text of a chapter."""
    return v4.new_markdown_cell(source.strip())


def code(source: str, *outputs: NotebookNode, alt: str = "") -> NotebookNode:
    """Executed cell of a chapter."""
    metadata: dict[str, Any] = {"mystnb": {"image": {"alt": alt}}} if alt else {}
    return v4.new_code_cell(source.strip(), outputs=list(outputs), metadata=metadata)


def chapter(*cells: NotebookNode) -> NotebookNode:
    """Notebook of these cells, executed in order."""
    count = 0
    for cell in cells:
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
    return v4.new_notebook(cells=list(cells), metadata={"language_info": {"name": "python"}})


def replaced(notebook: NotebookNode, old: str, new: str) -> NotebookNode:
    """Copy of a notebook with another text in the one place where the old one stands."""
    copy = deepcopy(notebook)
    cells = [cell for cell in copy.cells if old in cell.source]
    assert len(cells) == 1 and cells[0].source.count(old) == 1, f"{old!r} must stand in one place"
    cells[0].source = cells[0].source.replace(old, new)
    return copy


def changed(notebook: NotebookNode, start: str, **values: Any) -> NotebookNode:
    """Copy of a notebook in which the one cell that starts so has other values."""
    copy = deepcopy(notebook)
    [cell] = [cell for cell in copy.cells if cell.source.startswith(start)]
    cell.update(values)
    return copy


def without(notebook: NotebookNode, start: str) -> NotebookNode:
    """Copy of a notebook without the one cell that starts so."""
    kept = [cell for cell in deepcopy(notebook.cells) if not cell.source.startswith(start)]
    assert len(kept) == len(notebook.cells) - 1, f"one cell must start with {start!r}"
    return chapter(*kept)


def exercise(k: int) -> str:
    """Exercise with its hint; the solution is open for a code cell."""
    return f"""
```{{exercise-start}} 5.{k} Divide
:label: ex-05-{k}
:class: lo-05-{min(k, 3)}
```
How does the load change?
```{{exercise-end}}
```

```{{admonition}} Hint for this exercise
:class: dropdown
Divide.
```

```{{solution-start}} ex-05-{k}
:class: dropdown
```
It is 29 % then.
"""


def question(k: int) -> str:
    """Question with three choices; the right one wanders."""
    choices = ["It falls as well", "It stays the same", "It rises a little"]
    verdicts = ["✓ Right." if n == k % 3 else "✗ Not so." for n in range(3)]
    inside = "\n".join(
        f"""
```{{admonition}} {letter}. {choice}
:class: choice dropdown
{verdict} There is more to divide by than there was before.
```"""
        for letter, choice, verdict in zip("ABC", choices, verdicts, strict=True)
    )
    return f"""
````{{admonition}} Question {k}
:class: question lo-05-{k}
:name: check-05-{k}
The batch grows. What does the load do?
{inside}
````
"""


def solution() -> list[NotebookNode]:
    """Code cell of a solution, and its end."""
    return [code('claim("29 %", load(20))'), markdown("```{solution-end}\n```")]


def clean() -> NotebookNode:
    """Chapter in which every check finds nothing."""
    gpt3 = LinearService(t_fixed=0.050, t_req=0.0005)
    table = book.table({"B": [8, 16], "service (ms)": gpt3.time([8, 16])})
    return chapter(
        markdown(OPENING),
        code(SETUP),
        code("explore(draw)", picture(), stream("stdout", "A still picture."), alt=ALT),
        markdown(LOAD),
        code("sp.simplify(derived - formulas.utilization(λ, B, T_fixed, t_req))", text("0")),
        code('given("100 requests/s", rate)\ngiven("T_fixed = 50 ms", gpt3.t_fixed)'),
        code('claim("36.3 %", load(16))\nclaim("B_min = 6", gpt3.min_batch(rate))'),
        markdown(TIMES),
        code('table({"B": sizes, "service (ms)": gpt3.time(sizes)})', shown(table)),
        markdown(CLOSING),
        *(markdown(question(k)) for k in (1, 2, 3)),
        markdown("## Exercises" + exercise(1)),
        *solution(),
        markdown(exercise(2)),
        *solution(),
        markdown(exercise(3)),
        *solution(),
        markdown(exercise(4)),
        *solution(),
    )


SETUP = """
import numpy as np
from serving import formulas, plotting
from serving.book import claim, explore, given, table

plotting.use()
"""

OPENING = r"""
# 5. How large is the load?

Erlang asked first {cite}`erlang1909`; [chapter 2](02-batch-time.ipynb) tells the times.

- LO-05.1: compute the load.
- LO-05.2: read a table.
- LO-05.3: divide.

**What to know first:** division.
"""

LOAD = r"""
## What a batch costs

(a-target-7)=
The M/G/1 queue gets 100 requests/s, with $T_{\text{fixed}} = 50\,\text{ms}$; its load
[proved](badges.md#proved) is

$$
\rho_{\text{serv}} = \frac{\lambda_{\text{arr}} \left(T_{\text{fixed}} + t_{\text{req}} B\right)}{B}
$$ (eq-utilization)

At `B` = 16 it is
36.3 %, by `load(16)`. The least batch is $B_{\min} = 6$, not
*B* = 8, see {ref}`section 9 <a-target-7>`.

```{admonition} Guess first
:class: tip
What costs more?
```

```{admonition} If you run a server
:class: note
Aim for 36.3 % or less.
```

1. One.
2. Two.
"""

TIMES = r"""
## How long does it take?

A published batch {cite}`kleinrock1975` took 54.0 ms [measured](badges.md#measured).
"""

CLOSING = r"""
## What to take away

The load is 36.3 % in the example.

## Limits

One server only.

## Check yourself
"""
