"""Pictures: displays that draw into a given matplotlib axis."""

from mercer.plotting.boundary import BoundaryDisplay

__all__ = ["BoundaryDisplay"]
