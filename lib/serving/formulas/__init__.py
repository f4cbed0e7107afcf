"""The closed forms of the book, each written once.

Every function is unchecked algebra on numbers, arrays and SymPy symbols. `value` gives a checked
number and `curve` an array for drawing; equations, tables and proofs all start from here. A part
of the book has a module; all formulas are reached by name from here.
"""

from __future__ import annotations

from .._formula import REGISTRY, Formula, curve, formula, stable, value
from .attention import *
from .batches import *
from .constraint import *
from .crossings import *
from .engine import *
from .exactly import *
from .fleet import *
from .greedy import *
from .memory import *
from .operating import *
from .paging import *
from .phases import *
from .sizing import *
from .speculation import *
from .steps import *
from .tails import *
from .traffic import *
from .waiting import *
from .workers import *

__all__ = ["REGISTRY", "Formula", "curve", "formula", "stable", "value", *REGISTRY]
