"""Support vector machines."""

from mercer.svm.svc import SVC
from mercer.svm.svr import SVR

__all__ = ["SVC", "SVR"]
