"""Models for other programs, and from them: LIBSVM, scikit-learn, C, ONNX."""

from mercer.exchange.from_libsvm import from_libsvm
from mercer.exchange.from_sklearn import from_sklearn
from mercer.exchange.to_c import to_c
from mercer.exchange.to_libsvm import to_libsvm
from mercer.exchange.to_sklearn import to_sklearn

__all__ = ["from_libsvm", "from_sklearn", "to_c", "to_libsvm", "to_sklearn"]
