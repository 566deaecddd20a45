"""Ways to solve the quadratic program, and how good the answer is."""

from mercer.solvers.smo import solve_smo
from mercer.solvers.solution import Solution
from mercer.solvers.solve import solve
from mercer.solvers.starting_point import StartingPoint

__all__ = ["Solution", "StartingPoint", "solve", "solve_smo"]
