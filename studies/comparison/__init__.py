"""Kernel machines beside transparent models."""
