"""Ways to solve the quadratic program, and how good the answer is."""

from mercer.solvers.smo import solve_smo
from mercer.solvers.solution import Solution
from mercer.solvers.solve import solve

__all__ = ["Solution", "solve", "solve_smo"]
