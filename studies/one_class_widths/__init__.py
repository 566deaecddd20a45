"""Widths of one-class machines chosen without labels, on anomaly data."""
