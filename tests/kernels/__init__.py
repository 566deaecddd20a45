"""Tests of mercer.kernels."""
