"""Ways to solve the quadratic program, and how good the answer is."""

from mercer.solvers.options import Options
from mercer.solvers.path import PathSolutions, solve_path
from mercer.solvers.smo import solve_smo
from mercer.solvers.solution import Solution, Solutions
from mercer.solvers.solve import solve, solve_all
from mercer.solvers.starting_point import StartingPoint

__all__ = [
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
