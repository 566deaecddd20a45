"""Kernels and dissimilarities of nearest hyperspheres."""
