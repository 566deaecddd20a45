"""Ways to solve the quadratic program, and how good the answer is."""

from mercer.solvers.path import BoundedStart, PathSolutions, solve_path
from mercer.solvers.solution import Solution, Solutions, StartingPoint
from mercer.solvers.solve import Options, solve, solve_all, solve_smo

__all__ = [
    "BoundedStart",
    "Options",
    "PathSolutions",
    "Solution",
    "Solutions",
    "StartingPoint",
    "solve",
    "solve_all",
    "solve_path",
    "solve_smo",
]
