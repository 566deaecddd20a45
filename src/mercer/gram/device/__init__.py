"""Kernel matrices on a GPU; imported only where one is asked for, since it needs torch."""

from mercer.gram.device.gram import DeviceGram
from mercer.gram.device.sums import DeviceSums

__all__ = ["DeviceGram", "DeviceSums"]
