"""Colours that everyone can tell apart."""

import numpy as np
import pytest

from mercer.plotting._style import MARKERS, class_label, class_style, point_size
from mercer.plotting.palette import COLORS

to_rgb = pytest.importorskip("matplotlib.colors").to_rgb

# Full dichromacy in linear RGB: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A
# physiologically-based model for simulation of color vision deficiency", IEEE TVCG 15 (2009).
VISION = {
    "all cones": np.eye(3),
    "no red cones": [
        [0.1523, 1.0526, -0.2049],
        [0.1145, 0.7863, 0.0992],
        [-0.0039, -0.0481, 1.052],
    ],
    "no green cones": [
        [0.3673, 0.8606, -0.228],
        [0.2801, 0.6725, 0.0474],
        [-0.0118, 0.0429, 0.9689],
    ],
    "no blue cones": [
        [1.2555, -0.0767, -0.1788],
        [-0.0784, 0.9308, 0.1476],
        [0.0047, 0.6914, 0.3039],
    ],
}


def cielab(linear):
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = linear @ np.transpose(to_xyz) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = f.T
    return np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISION)
def test_ten_classes_are_far_apart_for_every_kind_of_colour_vision(vision):
    rgb = np.array([to_rgb(color) for color in COLORS])
    assert len(rgb) == 10
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = cielab(np.clip(linear @ np.transpose(VISION[vision]), 0, 1))
    distance = np.linalg.norm(seen[:, None] - seen, axis=-1) + 1000 * np.eye(10)
    # A just noticeable difference is about 2.
    assert distance.min() > 15


def test_styles_repeat_late():
    styles = {
        (str(np.round(to_rgb(color), 4)), marker) for color, marker in map(class_style, range(90))
    }
    assert len(styles) == 90
    assert len({class_style(code)[1] for code in range(9)}) == len(MARKERS) == 9


def test_points_shrink_in_a_crowd_and_never_vanish():
    sizes = [point_size(n) for n in (1, 200, 1000, 10_000, 10_000_000)]
    assert sizes[0] == sizes[1] > sizes[2] > sizes[3] >= sizes[4] > 4


@pytest.mark.parametrize(
    ("name", "label"), [(3, "class 3"), (-1, "class -1"), (2.0, "class 2.0"), ("setosa", "setosa")]
)
def test_bare_numbers_become_words(name, label):
    assert class_label(name) == label
