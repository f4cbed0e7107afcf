"""The instructor's side of the assignments: marks a notebook's functions by their properties.

Nothing of it is released. A submission's code runs in a process of its own (`worker`), which
knows neither the checks nor the course secret; what it answers comes back as plain values.
"""
