"""What Planas timed beside his own eliminations."""
