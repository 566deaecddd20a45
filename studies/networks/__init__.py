"""Directed scale-free graphs and small-world networks, told apart by their statistics."""
