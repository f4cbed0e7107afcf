"""Submissions that hang, die, cheat or break things: what they get, and that no harm is done."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from checks.service_time import TASKS
from course import student as students
from course import wire
from course.marking import Draw, Task, mark
from course.student import ASSIGNMENTS, LIBRARY, Student

RIGHT = """
def load(arrival_rate, batch, t_fixed, t_req):
    share = arrival_rate * (t_fixed + t_req * batch) / batch
    if share >= 1:
        raise ValueError("too much")
    return share
"""
QUICK = Task(False, TASKS["load"].properties, seconds=2.0)


def marked(*cells: str) -> tuple[float, str]:
    result = mark(QUICK, cells, Draw.of("a secret", "ada"))
    return result.points, "\n".join(result.lines)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def load(*_):\n    while True: pass", "did not come back"),
        ("def load(*_):\n  while True:\n    try:\n      while True: pass\n"
         "    except BaseException: pass", "ended or exhausted|did not come back"),
        ("def load(*_): raise KeyError('secret 4711')", "raised KeyError"),
        ("def load(*_): import os; os._exit(0)", "ended or exhausted"),
        ("def load(*_): import sys; sys.exit()", "raised SystemExit"),
        ("def load(*_): import os, signal; os.kill(os.getpid(), 9)", "may not do"),
        ("def load(*_): return 'x' * 10**11", "raised MemoryError"),
        ("def load(*_):\n    return load()", "raised RecursionError"),
        ("def load(*_): return list(range(10**5))", "must be a number"),
        ("def load(*_): return 10 ** 5000", "must be a number|ended or|raised|not right|finite"),
        ("def load(*_): import subprocess; subprocess.run(['true'])", "may not do"),
        ("def load(*_): return open('/tmp/left-behind', 'w')", "may not do"),
        ("import os\ndef load(*_): os.fork()", "may not do"),
        ("x = 1 / 0\ndef load(*_): return 1", "no function load"),
        ("def load(:", "no function load"),
    ],
)  # fmt: skip
def test_a_failing_function_gets_nothing_and_ends(code: str, said: str) -> None:
    began = time.monotonic()
    points, lines = marked(code)
    assert points == 0
    assert any(part in lines for part in said.split("|")), lines
    assert "4711" not in lines
    assert time.monotonic() - began < 60
    assert not Path("/tmp/left-behind").exists()


def test_a_cell_that_hangs_or_fails_does_not_take_the_others_along() -> None:
    points, lines = marked("while True: pass", "1 / 0", "import sys; sys.exit()", RIGHT)
    assert points == QUICK.points, lines


def test_a_cell_that_ends_the_process_does_not_take_the_others_along() -> None:
    points, lines = marked("import os; os._exit(1)", RIGHT, "import os; os._exit(2)")
    assert points == QUICK.points, lines
    ends = ["import os; os._exit(1)"] * 9
    points, lines = marked(*ends, RIGHT)
    assert points == 0, lines


def test_lines_that_only_a_notebook_understands_are_passed_over() -> None:
    points, lines = marked("%matplotlib inline\n!ls\n" + RIGHT, "%%bash\nls")
    assert points == QUICK.points, lines


@pytest.mark.parametrize(
    "cheat",
    [
        "from serving.formulas import utilization",
        "import serving.formulas as f; utilization = f.utilization",
        "utilization = __import__('serving').formulas.utilization",
        "import importlib; utilization = importlib.import_module('serving.formulas').utilization",
        f"import sys; sys.path.insert(0, {str(LIBRARY)!r})\n"
        "utilization = __import__('serving.formulas', fromlist=['x']).utilization",
        "import importlib.util as u\n"
        f"s = u.spec_from_file_location('other', {str(LIBRARY / 'serving' / '__init__.py')!r})\n"
        "m = u.module_from_spec(s); s.loader.exec_module(m); utilization = m.formulas.utilization",
        f"exec(open({str(LIBRARY / 'serving' / 'formulas' / 'sizing.py')!r}).read())",
    ],
)
def test_the_answer_cannot_be_imported_where_that_is_forbidden(cheat: str) -> None:
    answer = RIGHT.replace("arrival_rate * (t_fixed + t_req * batch) / batch",
                           "utilization(arrival_rate, batch, t_fixed, t_req)")  # fmt: skip
    points, lines = marked(cheat, answer)
    assert points == 0, lines
    joined, lines = marked(cheat + "\n" + answer)
    assert joined == 0, lines


def test_importing_is_worth_full_marks_where_it_is_allowed() -> None:
    """So that the zeros above come from the ban, not from an import that fails anyway."""
    code = RIGHT.replace(
        "    share = ", "    from serving.formulas import utilization\n    share = "
    )
    code = code.replace("arrival_rate * (t_fixed + t_req * batch) / batch",
                        "utilization(arrival_rate, batch, t_fixed, t_req)")  # fmt: skip
    allowed = mark(Task(True, QUICK.properties), [code], Draw.of("a secret", "ada"))
    assert allowed.points == QUICK.points, allowed.lines
    points, lines = marked(code)
    assert points == 0, lines


@pytest.mark.parametrize(
    "cheat",
    [
        "import sys, types\nfor n in ('checks', 'course', 'course.marking'):\n"
        "    sys.modules[n] = types.ModuleType(n)\n"
        "sys.modules['course.marking'].mark = lambda *a: 2.0",
        "import math\nmath.isclose = lambda *a, **k: True",
        "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.float = lambda x: 0.3625",
        "import json\njson.dumps = lambda *a, **k: '{\"value\": 0.3625}'",
        "print('2 of 2 points')\nprint(2.0)",
        "class Any(float):\n    def __eq__(s, o): return True\n    def __sub__(s, o): return 0\n"
        "    def __rsub__(s, o): return 0\ndef load(*_): return Any(1)",
        "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'{\"value\": 2}\\n' * 99)\n"
        "    except OSError: pass",
        "import gc, sys\nmarks = [o for o in gc.get_objects() if type(o).__name__ == 'Task']\n"
        "def load(*_): return marks[0]",
    ],
)
def test_meddling_with_the_marking_is_worth_nothing(cheat: str) -> None:
    guess = "" if "def load" in cheat else "\ndef load(*_): return 8"
    points, lines = marked(cheat + guess)
    assert points <= QUICK.properties[0].points, lines


@pytest.mark.parametrize(
    "path",
    [
        ASSIGNMENTS / "checks" / "service_time.py",
        ASSIGNMENTS / "source" / "service-time" / "service-time.ipynb",
        f"/proc/{os.getpid()}/environ",
        f"/proc/self/../{os.getpid()}/cmdline",
    ],
    ids=["checks", "solutions", "environment", "command"],  # workers must name tests alike
)
def test_neither_checks_nor_solutions_nor_secret_can_be_read(path: Path | str) -> None:
    code = f"def look(): return open({str(path)!r}, 'rb').read().decode('latin1')[:100]"
    with Student([code], serving=True) as one:
        reply = one.call("look")
    assert reply.error == "PermissionError"
    assert Path(path).exists()


def test_the_surroundings_hold_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_SECRET", "xyzzy-4711")
    with Student(["import os\ndef look(): return dict(os.environ)"], serving=True) as one:
        seen = one.value("look")
    assert "PATH" in seen
    assert "xyzzy-4711" not in str(seen)
    assert str(ASSIGNMENTS) not in str(seen)


def test_answers_are_plain_values_whatever_is_sent() -> None:
    for raw in [{"list": 3}, {"dict": [[1]]}, {"tree": "Symbol", "args": []}, {"tree": "eval"}]:
        try:
            value = wire.unpack(raw)
        except (IndexError, ValueError):  # `Student.call` takes these for no answer
            continue
        assert isinstance(value, wire.Unknown)
    code = "class Evil:\n    def __reduce__(self): return print, ('x',)\ndef load(): return Evil()"
    with Student([code], serving=False) as one:
        assert one.value("load") == wire.Unknown("Evil")


def test_a_process_that_does_not_start_is_no_fault_of_the_student(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "worker.py"
    broken.write_text("raise SystemExit")
    monkeypatch.setattr(students, "WORKER", broken)
    with pytest.raises(RuntimeError, match="does not start"):
        marked(RIGHT)


def test_numbers_are_the_students_own_and_stay_the_same() -> None:
    first = Draw.of("a secret", "service-time", "ada", "fit").service()
    assert first == Draw.of("a secret", "service-time", "ada", "fit").service()
    others = [
        ("a secret", "service-time", "béla", "fit"),
        ("another", "service-time", "ada", "fit"),
    ]
    assert all(first != Draw.of(*names).service() for names in others)
