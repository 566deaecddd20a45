"""C and widths chosen by gradients and by a grid on ten sets."""
