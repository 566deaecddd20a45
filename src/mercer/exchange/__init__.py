"""Models for other programs, and from them: LIBSVM, scikit-learn, C, ONNX."""

from mercer.exchange.from_libsvm import from_libsvm
from mercer.exchange.to_libsvm import to_libsvm

__all__ = ["from_libsvm", "to_libsvm"]
