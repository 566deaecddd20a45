"""Names of constructor parameters, looked up once for each class."""

from __future__ import annotations

from typing import Any, ClassVar


class RememberedParameters:
    """A mixin for estimators that are made, copied and fitted thousands of times.

    scikit-learn reads the signature of the constructor whenever parameters are asked for, which
    takes longer than a small fit.
    """

    _parameter_names: ClassVar[Any]

    @classmethod
    def _get_param_names(cls) -> Any:
        if "_parameter_names" not in cls.__dict__:
            cls._parameter_names = super()._get_param_names()  # type: ignore[misc]
        return cls._parameter_names
