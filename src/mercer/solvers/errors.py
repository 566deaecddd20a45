"""What solvers raise."""


class UnsuitedError(ValueError):
    """A device is the wrong place for a program: the processor is faster."""
