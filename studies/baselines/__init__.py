"""Support vector machines beside linear baselines and neural networks."""
