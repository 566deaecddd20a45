"""Bounds and estimates of the error of a fitted classifier, most of them with gradients."""
