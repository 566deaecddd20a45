"""Features that matter among noise."""
