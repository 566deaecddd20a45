"""Published results of feature selection beside ours, from four studies."""
