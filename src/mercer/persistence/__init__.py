"""Models in files that hold no code: save, load, and look without loading."""

from mercer.persistence.describing import ModelDescription, describe
from mercer.persistence.errors import ModelFileError
from mercer.persistence.loading import load
from mercer.persistence.saving import save

__all__ = ["ModelDescription", "ModelFileError", "describe", "load", "save"]
