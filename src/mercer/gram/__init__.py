"""How kernel values are computed and held: whole, in blocks, or as rows when needed."""

from mercer._threads import available_threads, blas_threads
from mercer.gram.base import Gram
from mercer.gram.computed import ComputedGram
from mercer.gram.distances import SquaredDistances
from mercer.gram.instructions import instruction_set
from mercer.gram.make import make_gram
from mercer.gram.memory import release_memory
from mercer.gram.pairwise import KernelSums, kernel_products
from mercer.gram.repeated import RepeatedGram
from mercer.gram.requested import RequestedGram
from mercer.gram.stored import StoredGram

__all__ = [
    "ComputedGram",
    "Gram",
    "KernelSums",
    "RepeatedGram",
    "RequestedGram",
    "SquaredDistances",
    "StoredGram",
    "available_threads",
    "blas_threads",
    "instruction_set",
    "kernel_products",
    "make_gram",
    "release_memory",
]
