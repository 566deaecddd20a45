"""Searches over a grid, with kernel matrices and solutions shared by all candidates and folds."""
