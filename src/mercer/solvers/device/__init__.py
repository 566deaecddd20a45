"""Solvers of programs whose kernel matrix is on a device; imported only where one is."""

from mercer.solvers.device.solve import solve_on_device

__all__ = ["solve_on_device"]
