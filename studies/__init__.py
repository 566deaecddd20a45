"""Published experiments, run again beside their printed tables; each folder has a page."""
