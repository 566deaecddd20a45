"""Kernels: what similarity is, its parameters and its derivatives."""

from ._distances import contract_squared_differences, squared_distances
from .adapters import CallableKernel, GaussianProcessKernel, Precomputed
from .algebra import Power, Product, Scaled, Sum
from .base import Kernel, PairwiseForm
from .coerce import as_kernel
from .dot import Linear, Polynomial, Sigmoid
from .feature_map import explicit_map
from .graphs import ShortestPath
from .mercer_condition import MercerReport, is_mercer
from .normalization import Normalized, unit_rows
from .radial import RBF, Laplacian
from .taylor_map import taylor_map
from .width import auto_gamma, median_gamma, scale_gamma
from .wrappers import Constant, Weighted

__all__ = [
    "RBF",
    "CallableKernel",
    "Constant",
    "GaussianProcessKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "MercerReport",
    "Normalized",
    "PairwiseForm",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "Scaled",
    "ShortestPath",
    "Sigmoid",
    "Sum",
    "Weighted",
    "as_kernel",
    "auto_gamma",
    "contract_squared_differences",
    "explicit_map",
    "is_mercer",
    "median_gamma",
    "scale_gamma",
    "squared_distances",
    "taylor_map",
    "unit_rows",
]
