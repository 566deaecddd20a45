"""Classifiers on normal and lognormal populations."""
