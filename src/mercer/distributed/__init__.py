"""Machines for rows that lie on many computers, by dask (extra ``dask``)."""

from mercer.distributed.distributed import Distributed

__all__ = ["Distributed"]
