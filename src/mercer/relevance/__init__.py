"""Relevance vector machines: sparse Bayesian classification and regression."""

from mercer.relevance.evidence import Evidence, relevance_evidence
from mercer.relevance.rvc import RVC
from mercer.relevance.rvr import RVR

__all__ = ["RVC", "RVR", "Evidence", "relevance_evidence"]
