"""The simulation study: its printed table, its classifiers and its numbers."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from mercer.datasets import make_simulation
from mercer.studies import get_study, run_study
from studies.simulation.classifiers import automatic_gamma


@pytest.fixture(scope="module")
def study():
    return get_study("simulation")


def test_printed_values_are_those_of_the_source(study):
    """A few of each table, and a sum over all of them, typed in apart from the study."""
    printed = {c.name: c.printed for c in study.configurations}
    assert (printed["3"]["SVM"].mean, printed["3"]["SVM"].sd) == (0.01307, 0.00398)
    assert (printed["8"]["NHC opt"].mean, printed["8"]["NHC opt"].sd) == (0.49998, 0.00010)
    assert (printed["16"]["LDA"].mean, printed["16"]["LDA"].sd) == (0.38359, 0.07662)
    assert [c.parameters["gamma"] for c in study.configurations][:2] == [0.3501, 0.0601]
    # The text gives these overall averages of the last method.
    normal = np.mean([printed[str(row)]["NHC opt"].mean for row in range(1, 9)])
    lognormal = np.mean([printed[str(row)]["NHC opt"].mean for row in range(9, 17)])
    assert normal == pytest.approx(0.31831, abs=5e-6)
    assert lognormal == pytest.approx(0.17139, abs=5e-6)


def test_both_readings_are_offered_and_told_apart(study):
    names = [c.name for c in study.configurations]
    assert len(names) == 20
    assert [name for name in names if "stated" in name] == [f"{r}-stated" for r in (2, 4, 6, 8)]
    notes = {c.name: c.note for c in study.configurations}
    assert "without correlation" in notes["2"]
    assert "states it" in notes["2-stated"]
    assert "no reading" in notes["7"]
    assert notes["1"] == notes["9"] == ""


def test_the_automatic_width_lies_between_those_of_the_quantiles():
    X = np.random.default_rng(0).normal(size=(60, 7))
    lengths = np.sort(pdist(X, "sqeuclidean"))
    low, high = 1 / np.quantile(lengths, 0.9), 1 / np.quantile(lengths, 0.1)
    assert automatic_gamma(X) == pytest.approx((low + high) / 2)
    assert automatic_gamma(2 * X) == pytest.approx(automatic_gamma(X) / 4)
    assert automatic_gamma(np.repeat(X, 2, axis=0)) > 0


def test_a_few_rows_are_reproduced(study):
    results = run_study(
        study, repetitions=12, only=["1/*DA", "1/SVM", "3/SVM", "9/SVM", "2-stated/LDA"]
    )
    verdicts = {(r["configuration"], r["method"]): r["verdict"] for r in results.table()}
    assert not results.failures
    assert verdicts.pop(("2-stated", "LDA")) == "worse"
    assert set(verdicts.values()) == {"reproduced"}


def test_a_cell_can_be_done_again_by_hand(study):
    """The seed in the results is all that is needed."""
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    results = run_study(study, repetitions=1, only=["13/QDA"])
    (record,) = results.records
    rng = np.random.RandomState(record["seed"])
    X, y = make_simulation(13, random_state=rng)
    X_test, y_test = make_simulation(13, (1000, 1000), random_state=rng)
    model = QuadraticDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y)
    assert record["values"]["error"] == pytest.approx(1 - model.score(X_test, y_test))
