"""Machines for many rows: on the few features of a kernel of low rank."""

from mercer.lowrank.arrow_batches import ArrowBatches
from mercer.lowrank.landmarks import choose_landmarks
from mercer.lowrank.low_rank_kernel import LowRankKernel
from mercer.lowrank.nystroem_svc import NystroemSVC
from mercer.lowrank.nystroem_svr import NystroemSVR

__all__ = ["ArrowBatches", "LowRankKernel", "NystroemSVC", "NystroemSVR", "choose_landmarks"]
