"""Settings of nbgrader: this folder is the course's, whoever starts nbgrader in it."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]

from nbconvert.preprocessors import ClearMetadataPreprocessor  # noqa: E402
from nbgrader.preprocessors import (  # noqa: E402
    AssignLatePenalties,
    CheckCellMetadata,
    IgnorePattern,
    LimitOutput,
    SaveAutoGrades,
)

from course.plugin import MarkTasks, RunGuarded  # noqa: E402

c = get_config()  # noqa: F821 - traitlets hands it over

c.CourseDirectory.course_id = "inference-foundations"
c.CourseDirectory.root = str(HERE)
c.CourseDirectory.source_directory = str(HERE / "source")

# The notebook is run as always, confined; marks come from the hidden checks.
c.Autograde.autograde_preprocessors = [
    RunGuarded,
    MarkTasks,
    IgnorePattern,
    ClearMetadataPreprocessor,
    LimitOutput,
    SaveAutoGrades,
    AssignLatePenalties,
    CheckCellMetadata,
]
c.RunGuarded.timeout = 10
c.RunGuarded.startup_timeout = 120
c.LimitOutput.max_lines = 200
c.LimitOutput.max_traceback = 20
# A graded cell that a student deleted comes back.
c.OverwriteCells.add_missing_cells = True
