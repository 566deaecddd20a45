"""The page without a server: fits of a small grid of settings, computed beforehand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mercer.play._catalogue import MACHINES, SETTINGS
from mercer.play._examples import example
from mercer.play.answers import answer

PAGE = Path(__file__).parent / "page"
FILES = ("play.css", "play.js")

SHOWN = {
    "moons": ("svc", "svc_squared", "rvc"),
    "islands": ("svc", "perceptron"),
    "flowers": ("svc", "spheres"),
    "ring": ("svdd", "one_class"),
    "wave": ("svr", "rvr"),
}
"""Machines for each example."""

KERNELS = ("rbf", "linear")
STEPS = {
    "C": [0.1, 1.0, 10.0, 100.0, 1000.0],
    "gamma": [0.05, 0.2, 0.8, 3.0, 12.0],
    "nu": [0.01, 0.05, 0.1, 0.2, 0.4],
}
ACROSS = 60
"""Nodes of the grid."""

ROOM = 1.2
"""Of what is seen, by what the points take; a little more than the page has around them."""


Progress = Callable[[int, int, str], None]


def export(folder: Path, progress: Progress | None = None) -> list[Path]:
    """Write the page with fits computed beforehand, which needs no server.

    Parameters
    ----------
    folder : Path
        Made if it is not there; files of the page in it are replaced.
    progress : callable, default=None
        Told how many fits are done, of how many, and what comes next.

    Returns
    -------
    list of Path
        What was written: index.html, which any browser opens, and what it needs.

    Examples
    --------
    >>> from mercer.play import export
    >>> export("page")  # doctest: +SKIP
    [PosixPath('page/index.html'), ...]
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(fits(progress), separators=(",", ":"), allow_nan=False)
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    before = '<script src="play.js"'
    if before not in page:
        raise RuntimeError("The page has no place for the fits.")
    page = page.replace(before, '<script src="fits.js" defer></script>\n  ' + before)
    written = [folder / name for name in ("index.html", *FILES, "fits.js")]
    written[0].write_text(page, encoding="utf-8")
    for name in FILES:
        shutil.copyfile(PAGE / name, folder / name)
    written[-1].write_text(f"window.MERCER_PLAY = {text};\n", encoding="utf-8")
    return written


def fits(progress: Progress | None = None) -> dict[str, Any]:
    """Return what the page needs in place of a server: "about", and answers by their settings.

    Parameters
    ----------
    progress : callable, default=None
        As in `export`.
    """
    about = answer({"ask": "about"})
    examples = [one for one in about["examples"] if one["name"] in SHOWN]
    about |= {"examples": examples, "steps": STEPS}
    about["offered"] = {name: list(machines) for name, machines in SHOWN.items()}
    about["kernels"] = {name: about["kernels"][name] for name in KERNELS}
    offered = {name for machines in SHOWN.values() for name in machines}
    about["machines"] = {name: about["machines"][name] for name in MACHINES if name in offered}
    found: dict[str, Any] = {}
    data: dict[str, str] = {}
    points = {name: example(name) for name in SHOWN}
    asked = [
        (name, machine, kernel, settings)
        for name, machines in SHOWN.items()
        for machine in machines
        for kernel in KERNELS
        for settings in _settings(_moved(machine, kernel))
    ]
    for done, (name, machine, kernel, settings) in enumerate(asked):
        if progress is not None:
            progress(done, len(asked), f"{MACHINES[machine].title} on {points[name]['title']}")
        picture = _picture(points[name], machine, kernel, settings)
        before, text, after = picture["code"]
        data[f"{name} {machine}"] = text
        picture["code"] = [before, f"{name} {machine}", after]
        found[key_of(name, machine, kernel, settings)] = picture
    return {"about": about, "answers": found, "data": data}


def key_of(name: str, machine: str, kernel: str, settings: dict[str, float]) -> str:
    """Return the name of an answer, which the page makes from its settings, too.

    Examples
    --------
    >>> key_of("moons", "svc", "rbf", {"gamma": 0.05, "C": 10.0})
    'moons svc rbf C=10 gamma=0.05'
    """
    said = [f"{key}={settings[key]:g}" for key in STEPS if key in settings]
    return " ".join([name, machine, kernel, *said])


def _moved(machine: str, kernel: str) -> list[str]:
    """Return the settings that have sliders."""
    moved = [name for name in ("C", "nu") if name in MACHINES[machine].settings]
    return moved + ["gamma"] * (kernel != "linear")


def _picture(
    points: dict[str, Any], machine: str, kernel: str, settings: dict[str, float]
) -> dict[str, Any]:
    """Return all that the page may ask about one machine."""
    spec = MACHINES[machine]
    view, grid = _view(points["points"])
    fixed = {name: SETTINGS[name].start for name in spec.settings if name not in settings}
    asked = {
        **{key: points[key] for key in ("points", "labels", "names")},
        **{"machine": machine, "kernel": kernel, "view": view, "grid": grid},
        **{"criterion": spec.criteria[0], "settings": settings | fixed},
    }
    picture = _whole(answer(asked | {"ask": "picture"}))
    del picture["milliseconds"]  # else no two exports would be the same
    picture["error"] = _whole(answer(asked | {"ask": "error"}))
    picture["value"] = _whole(answer(asked | {"ask": "surface", "cells": [{}]}))["values"][0]
    return picture


def _settings(names: list[str]) -> Iterator[dict[str, float]]:
    if not names:
        yield {}
        return
    for value in STEPS[names[0]]:
        for rest in _settings(names[1:]):
            yield {names[0]: value, **rest}


def _view(points: list[list[float]]) -> tuple[list[float], list[int]]:
    """Return what any window may show of the points, from square to four by three, and its grid."""
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    wide, tall = high - low
    half = ROOM / 2 * np.array([max(wide, 4 / 3 * tall), max(wide, tall)])
    middle = (low + high) / 2
    ends = np.stack([middle - half, middle + half], axis=1)
    return ends.round(4).ravel().tolist(), [ACROSS, round(ACROSS * half[1] / half[0])]


def _whole(found: dict[str, Any]) -> dict[str, Any]:
    if "error" in found and isinstance(found["error"], str):
        raise RuntimeError(f"An example of the page cannot be computed: {found['error']}")
    return found
