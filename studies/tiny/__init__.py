"""The smallest study: a check of the runner, and an example."""
