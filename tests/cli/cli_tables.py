"""A table as people have them."""

import numpy as np
import pandas as pd


def some_patients():
    """Mixed columns with gaps, an identifier, classes and a number to predict."""
    rng = np.random.default_rng(0)
    n = 80
    age, town = rng.integers(20, 80, n), rng.choice(["Oslo", "Bergen", "Bodø"], n)
    dose = rng.normal(size=n).round(3)
    ill = 0.08 * (age - 50) + dose + 0.3 * rng.normal(size=n) > 0
    frame = pd.DataFrame(
        {
            "patient_id": [f"P{k:03d}" for k in rng.permutation(n)],
            "age": age.astype(object),
            "town": town,
            "dose": dose,
            "cost": (10.0 * age + 50 * dose).round(2),
            "outcome": np.where(ill, "ill", "well"),
        }
    )
    frame.loc[[3, 9], "age"] = "unknown"
    frame.loc[5, "town"] = None
    return frame
