"""Searches that follow the gradient of a criterion."""
