"""Perceptrons: the simplest kernel machines."""

from mercer.perceptron.kernel_perceptron import KernelPerceptron

__all__ = ["KernelPerceptron"]
