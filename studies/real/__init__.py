"""Classifiers on iris, haemophilia, heart disease and red wine."""
