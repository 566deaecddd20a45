"""Meaningful lines changed, one at a time: do tests notice? ``python -m tests.mutation --help``."""
