"""Pictures: displays that draw into a given matplotlib axis."""

from mercer.plotting import palette
from mercer.plotting.boundary import BoundaryDisplay
from mercer.plotting.criterion import CriterionDisplay
from mercer.plotting.error_surface import ErrorSurfaceDisplay
from mercer.plotting.evidence import EvidenceDisplay
from mercer.plotting.gram import GramDisplay
from mercer.plotting.margin import MarginDisplay
from mercer.plotting.memberships import MembershipsDisplay
from mercer.plotting.multipliers import MultipliersDisplay
from mercer.plotting.ranking_curve import RankingCurveDisplay
from mercer.plotting.reliability import ReliabilityDisplay
from mercer.plotting.similarity_map import SimilarityMapDisplay
from mercer.plotting.support_fraction import SupportFractionDisplay
from mercer.plotting.support_region import SupportRegionDisplay
from mercer.plotting.widths import WidthsDisplay

__all__ = [
    "BoundaryDisplay",
    "CriterionDisplay",
    "ErrorSurfaceDisplay",
    "EvidenceDisplay",
    "GramDisplay",
    "MarginDisplay",
    "MembershipsDisplay",
    "MultipliersDisplay",
    "RankingCurveDisplay",
    "ReliabilityDisplay",
    "SimilarityMapDisplay",
    "SupportFractionDisplay",
    "SupportRegionDisplay",
    "WidthsDisplay",
    "palette",
]
