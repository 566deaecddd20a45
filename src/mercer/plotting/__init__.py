"""Pictures: displays that draw into a given matplotlib axis."""

from mercer.plotting.boundary import BoundaryDisplay
from mercer.plotting.gram import GramDisplay
from mercer.plotting.margin import MarginDisplay
from mercer.plotting.multipliers import MultipliersDisplay
from mercer.plotting.reliability import ReliabilityDisplay
from mercer.plotting.support_fraction import SupportFractionDisplay
from mercer.plotting.support_region import SupportRegionDisplay

__all__ = [
    "BoundaryDisplay",
    "GramDisplay",
    "MarginDisplay",
    "MultipliersDisplay",
    "ReliabilityDisplay",
    "SupportFractionDisplay",
    "SupportRegionDisplay",
]
