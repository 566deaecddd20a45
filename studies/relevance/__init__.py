"""Relevance vector machines, support vector machines, Gaussian processes."""
