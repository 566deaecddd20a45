"""How many features to keep, from importances alone."""
