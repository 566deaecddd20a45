"""The colours of all pictures, told apart with every kind of colour vision.

Examples
--------
>>> from mercer.plotting.palette import BLUE, COLORS, VERMILION
>>> COLORS[:2] == (BLUE, VERMILION)
True
"""

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, YELLOW = "#E69F00", "#56B4E9", "#F0E442"

GREY = "#808080"
"""For what stands beside the matter: grids, lines of reference, printed values."""

COLORS = (
    *(BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, YELLOW),
    *("#8A3FFC", "#C5031A", "#6FE8C8"),
)
"""The palette of Okabe and Ito and three more colours that lie as far from it as its own do from
each other, for every kind of colour vision."""
