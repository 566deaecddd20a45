"""Support vector machines."""

from mercer.svm.svc import SVC

__all__ = ["SVC"]
