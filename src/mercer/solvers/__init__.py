"""Ways to solve the quadratic program, and how good the answer is."""

from mercer.solvers.crammer_singer import MultiClassSolution, solve_crammer_singer
from mercer.solvers.path import BoundedStart, PathSolutions, solve_path
from mercer.solvers.solution import Solution, StartingPoint
from mercer.solvers.solve import Options, Solutions, solve, solve_all, solve_smo

__all__ = [
    "BoundedStart",
    "MultiClassSolution",
    "Options",
    "PathSolutions",
    "Solution",
    "Solutions",
    "StartingPoint",
    "solve",
    "solve_all",
    "solve_crammer_singer",
    "solve_path",
    "solve_smo",
]
