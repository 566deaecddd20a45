"""Looking into fitted machines."""

from mercer.inspection.sensitivity import feature_sensitivity

__all__ = ["feature_sensitivity"]
