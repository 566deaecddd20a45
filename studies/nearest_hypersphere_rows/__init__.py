"""Published rows of nearest hypersphere classification beside ours."""
