"""Two variables together and alone."""
