"""Errors with few genes, with and without selection bias."""
