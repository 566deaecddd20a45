"""Making a kernel of whatever people write for one."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from .adapters import CallableKernel, GaussianProcessKernel, Precomputed
from .base import Kernel, makes
from .dot import Linear, Polynomial, Sigmoid
from .radial import RBF, Laplacian
from .wrappers import Constant

NAMES = (
    "linear",
    "poly",
    "polynomial",
    "rbf",
    "laplacian",
    "sigmoid",
    "constant",
    "precomputed",
)
_LIST = ", ".join(map(repr, NAMES))


@makes("kernel")
def as_kernel(
    kernel: Any,
    *,
    gamma: Any = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    params: dict[str, Any] | None = None,
) -> Kernel:
    """Return a `Kernel` for a kernel, a name, a function or a scikit-learn kernel.

    Parameters
    ----------
    kernel : Kernel, str, callable or sklearn.gaussian_process.kernels.Kernel
        A name is "linear", "poly" or "polynomial", "rbf", "laplacian", "sigmoid", "constant" or
        "precomputed"; a function takes X and Y and returns the kernel matrix.
    gamma, degree, coef0 : default="scale", 3, 0.0
        Parameters of the kernels that are given by name and have them.
    params : dict, default=None
        Further parameters: arguments of a function, or values to set on the kernel.

    Returns
    -------
    Kernel
        The kernel itself where it is one already and `params` changes nothing.

    Examples
    --------
    >>> from mercer.kernels import as_kernel
    >>> as_kernel("poly", gamma=1.0, degree=2)
    Polynomial(degree=2, gamma=1.0)
    """
    params = params or {}
    if isinstance(kernel, str):
        kernel = _by_name(kernel, gamma, degree, coef0)
    if isinstance(kernel, Kernel):
        return _with_params(kernel, params)
    if isinstance(kernel, type):
        name = kernel.__name__
        raise TypeError(f"A kernel must be an object, not a class; give {name}(...), not {name}.")
    if _is_gaussian_process_kernel(kernel):
        return GaussianProcessKernel(_with_params(kernel, params))
    if callable(kernel):
        return CallableKernel(kernel, params or None)
    raise TypeError(
        f"kernel must be a kernel, a function of X and Y, or one of {_LIST}; got {kernel!r}."
    )


def _with_params(kernel: Any, params: dict[str, Any]) -> Any:
    return clone(kernel).set_params(**params) if params else kernel


def _by_name(name: str, gamma: Any, degree: int, coef0: float) -> Kernel:
    if name not in NAMES:
        raise ValueError(f"The name of a kernel must be one of {_LIST}; got {name!r}.")
    if name in ("poly", "polynomial"):
        return Polynomial(degree, gamma, coef0)
    if name == "sigmoid":
        return Sigmoid(gamma, coef0)
    if name in ("rbf", "laplacian"):
        return RBF(gamma) if name == "rbf" else Laplacian(gamma)
    return {"linear": Linear, "constant": Constant, "precomputed": Precomputed}[name]()


def _is_gaussian_process_kernel(kernel: Any) -> bool:
    """Tell by what it can do, so that scikit-learn's module need not be imported."""
    needed = ("clone_with_theta", "hyperparameters", "is_stationary", "diag")
    return all(hasattr(kernel, name) for name in needed)
