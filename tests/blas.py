"""How many threads the linear algebra has at the moment."""

from __future__ import annotations

import scipy.linalg
from threadpoolctl import ThreadpoolController


def held() -> list[int]:
    """Return the threads of each BLAS that is loaded, NumPy's and SciPy's."""
    assert scipy.linalg is not None
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [library.num_threads for library in found]
