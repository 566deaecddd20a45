"""Support vectors of the smallest enclosing ball against the width of the kernel."""
