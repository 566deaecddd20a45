"""The machine that a gradient search tunes, alone or at the end of a pipeline."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mercer.relevance import RVC
from mercer.svm import SVC


class TunedPart(NamedTuple):
    """The machine, the steps before it and the prefix of its parameters.

    Parameters
    ----------
    machine : SVC or RVC
    pipeline : Pipeline or None
        A copy of the whole, to be filled with fitted steps.
    prefix : str
        "svc__" where the last step is called svc; empty without a pipeline.
    """

    machine: SVC | RVC
    pipeline: Pipeline | None
    prefix: str

    @classmethod
    def of(cls, estimator: Any) -> TunedPart:
        """Return unfitted copies of the parts of an estimator; None is a squared hinge."""
        if not isinstance(estimator, Pipeline):
            model = SVC(loss="squared_hinge") if estimator is None else clone(estimator)
            return cls(model, None, "")
        name, last = estimator.steps[-1]
        if not isinstance(last, (SVC, RVC)):
            raise ValueError(
                "The last step of a pipeline must be the SVC or RVC to tune; got "
                f"{type(last).__name__}."
            )
        return cls(clone(last), clone(estimator), f"{name}__")

    def prepare(self, X: Any, y: Any) -> Any:
        """Fit the steps before the machine, and return the rows as they leave them."""
        if self.pipeline is None or len(self.pipeline.steps) == 1:
            return X
        before = self.pipeline[:-1]
        rows = before.fit_transform(X, y)
        self.pipeline.steps[:-1] = before.steps
        return rows

    def whole(self) -> Any:
        """Return the machine, behind the steps where there are any."""
        if self.pipeline is None:
            return self.machine
        self.pipeline.steps[-1] = (self.pipeline.steps[-1][0], self.machine)
        return self.pipeline

    def named(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return parameters of the machine under the names that the whole has for them."""
        return {self.prefix + name: value for name, value in params.items()}
