"""Curves of Planas: rankings by chance, by a filter and by elimination, and which kernel judges."""
