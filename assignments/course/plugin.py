"""What the course adds to nbgrader: two preprocessors, named in nbgrader_config.py.

`RunGuarded` runs the notebook as nbgrader does, in a kernel that is confined and may die without
stopping anything. `MarkTasks` then puts the mark of each graded code cell in the place of that
cell's output, where nbgrader reads it: a number is the points. The hidden checks never enter the
notebook nor its kernel, so neither feedback pages nor tracebacks can show them.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode, v4
from nbgrader import utils
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from nbgrader.preprocessors.execute import UnresponsiveKernelError

from .draws import Draw, course_secret
from .marking import Result, Task, mark
from .student import ASSIGNMENTS, MEMORY, PATIENCE, surroundings

GUARD = Path(__file__).with_name("guard.py")
DIED = (DeadKernelError, CellTimeoutError, UnresponsiveKernelError, RuntimeError, OSError)


def tasks(assignment: str) -> dict[str, Task]:
    """Find the hidden checks of an assignment.

    Parameters
    ----------
    assignment : str
        Its name, with hyphens.

    Returns
    -------
    dict of str to Task
        The task of each graded code cell.
    """
    module = importlib.import_module(f"checks.{assignment.replace('-', '_')}")
    return dict(module.TASKS)


def cells(notebook: NotebookNode) -> list[str]:
    """Take the code that a student wrote or was given, the visible tests left out.

    Parameters
    ----------
    notebook : NotebookNode
        The submission.

    Returns
    -------
    list of str
        Sources of its cells.
    """
    return [
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and (utils.is_solution(cell) or not utils.is_grade(cell))
    ]


class RunGuarded(Execute):
    """Run a submission in a kernel that knows no secret, and survive its death."""

    def preprocess(self, nb: NotebookNode, resources: Any, km: Any = None) -> tuple[Any, Any]:
        """Execute all cells.

        Parameters
        ----------
        nb : NotebookNode
            The submission.
        resources : dict
            What nbconvert hands along.
        km : KernelManager, optional
            A kernel to use.

        Returns
        -------
        tuple
            The notebook with outputs, and the resources.
        """
        with tempfile.TemporaryDirectory(prefix="kernel-", ignore_cleanup_errors=True) as home:
            self._home, self._late, self._last = home, 0, None
            self._closed = [str(ASSIGNMENTS), os.getcwd()]  # nbgrader works in the course's folder
            try:
                return super().preprocess(nb, resources, km)
            except DIED as error:
                if self._last is None:  # nothing of the submission has run: the course's fault
                    raise
                self.log.warning("The kernel of a submission ended: %s", type(error).__name__)
                self._tell(nb.cells[self._last])
                return nb, resources

    def create_kernel_manager(self) -> KernelManager:
        """Make a manager that talks over files of the kernel's own folder, not over ports."""
        manager = super().create_kernel_manager()
        manager.connection_file = str(Path(self._home) / "kernel.json")
        manager.transport, manager.ip = "ipc", str(Path(self._home) / "kernel")
        return manager

    def start_new_kernel(self, **kwargs: Any) -> None:
        """Start the kernel in a folder and an environment of its own, and confine it."""
        call = (
            f"exec(compile(open({str(GUARD)!r}).read(), 'guard', 'exec'), (g := {{}})); "
            f"g['set_up']({self._home!r}, {self._closed!r}, network=True, memory={MEMORY}); del g"
        )
        self.extra_arguments = [
            "--HistoryManager.hist_file=:memory:",
            f"--IPKernelApp.exec_lines={call}",
        ]
        environment = surroundings(self._home, serving=True)
        super().start_new_kernel(cwd=self._home, env=environment, **kwargs)

    def preprocess_cell(self, cell: NotebookNode, resources: Any, index: int) -> tuple[Any, Any]:
        """Execute a cell, and give the kernel up when several never end."""
        if cell.cell_type == "code":
            self._last = index
        cell, resources = super().preprocess_cell(cell, resources, index)
        late = any(out.get("ename") == "CellTimeoutError" for out in cell.get("outputs", []))
        self._late += late
        if self._late >= PATIENCE:
            raise UnresponsiveKernelError
        return cell, resources

    def _tell(self, cell: NotebookNode) -> None:
        """Say in the cell that was run last that the kernel ended there."""
        text = "The kernel ended here, and the cells below were not run.\n"
        cell.outputs = [v4.new_output("stream", name="stdout", text=text)]


class MarkTasks(NbGraderPreprocessor):
    """Mark each graded code cell by its hidden properties."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[Any, Any]:
        """Put marks and sentences in the place of the outputs of the graded cells.

        Parameters
        ----------
        nb : NotebookNode
            The submission, executed.
        resources : dict
            With nbgrader's names of assignment and student.

        Returns
        -------
        tuple
            The notebook, and the resources.
        """
        names = resources["nbgrader"]
        known, code = tasks(names["assignment"]), cells(nb)
        for cell in nb.cells:
            task = cell.metadata.get("nbgrader", {}).get("grade_id")
            if cell.cell_type == "code" and utils.is_grade(cell) and task in known:
                draw = Draw.of(course_secret(), names["assignment"], names["student"], task)
                show(cell, mark(known[task], code, draw, [Path.cwd()]))
        return nb, resources


def show(cell: NotebookNode, result: Result) -> None:
    """Write a result as the output of its cell.

    Parameters
    ----------
    cell : NotebookNode
        The graded cell.
    result : Result
        Its mark.
    """
    text = "\n".join(result.lines) + f"\n{result.points:g} of {result.of:g} points\n"
    cell.execution_count = cell.execution_count or 1
    cell.outputs = [
        v4.new_output("stream", name="stdout", text=text),
        v4.new_output(
            "execute_result",
            {"text/plain": f"{result.points:g}"},
            execution_count=cell.execution_count,
        ),
    ]
