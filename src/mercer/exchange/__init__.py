"""Models for other programs, and from them: LIBSVM, scikit-learn, C, ONNX."""

from mercer.exchange.c_writing import to_c
from mercer.exchange.libsvm_reading import from_libsvm
from mercer.exchange.libsvm_writing import to_libsvm
from mercer.exchange.onnx_registering import register_onnx
from mercer.exchange.onnx_writing import to_onnx
from mercer.exchange.sklearn_reading import from_sklearn
from mercer.exchange.sklearn_writing import to_sklearn

__all__ = [
    "from_libsvm",
    "from_sklearn",
    "register_onnx",
    "to_c",
    "to_libsvm",
    "to_onnx",
    "to_sklearn",
]
