"""The hidden checks, a module an assignment, each with its TASKS by the id of the graded cell.

Never released: `course.plugin` imports them on the instructor's machine alone.
"""
