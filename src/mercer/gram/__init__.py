"""How kernel values are computed and held: whole, in blocks, or as rows when needed."""

from mercer._threads import available_threads, blas_threads
from mercer.gram.base import Gram, RequestedGram, StoredGram, finite, gives_numbers
from mercer.gram.columns import KernelColumns
from mercer.gram.devices import check_device
from mercer.gram.distances import SquaredDistances
from mercer.gram.pairwise import (
    ComputedGram,
    KernelSums,
    device_of,
    kernel_products,
    make_gram,
)
from mercer.gram.resources import instruction_set, release_memory
from mercer.gram.stacked import StackedGram

__all__ = [
    "ComputedGram",
    "Gram",
    "KernelColumns",
    "KernelSums",
    "RequestedGram",
    "SquaredDistances",
    "StackedGram",
    "StoredGram",
    "available_threads",
    "blas_threads",
    "check_device",
    "device_of",
    "finite",
    "gives_numbers",
    "instruction_set",
    "kernel_products",
    "make_gram",
    "release_memory",
]
