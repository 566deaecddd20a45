"""Missing values of iris, and what forests and a tree say of it."""
