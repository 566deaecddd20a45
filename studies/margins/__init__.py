"""Boundaries of support vector machines, and how long they and networks take to learn."""
