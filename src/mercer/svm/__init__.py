"""Support vector machines."""

from mercer.svm.crammer_singer_svc import CrammerSingerSVC
from mercer.svm.svc import SVC
from mercer.svm.svr import SVR

__all__ = ["SVC", "SVR", "CrammerSingerSVC"]
