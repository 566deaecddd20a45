"""Where the arrays of a data set come from: a folder, the cache, or the public source."""

from __future__ import annotations

import hashlib
import io
import os
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._files import written_whole

from . import _rebuild
from .registry import DATASETS, DataSet, Download

Arrays = dict[str, NDArray[Any]]

SERVER = "https://raw.githubusercontent.com"
SECONDS = 60


def get_data_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder in which downloaded data sets are kept, and make it if need be.

    It is the one given, else the one named by the environment variable ``MERCER_CACHE``, else
    ``~/.cache/mercer``. Data in the folder that ``MERCER_DATA`` names are read from there and
    never copied.

    Parameters
    ----------
    data_home : str, path or None, default=None
        The folder; None leaves it to the environment.

    Returns
    -------
    Path
        The folder, which is there now.

    Examples
    --------
    >>> import tempfile
    >>> from mercer.datasets import get_data_home
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     home = get_data_home(f"{folder}/data")
    ...     home.is_dir(), home.name
    (True, 'data')
    """
    home = data_home or os.environ.get("MERCER_CACHE") or Path("~", ".cache", "mercer")
    folder = Path(home).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fetch(
    name: str, data_home: str | os.PathLike[str] | None = None, download_if_missing: bool = True
) -> Arrays:
    """Return the arrays of a data set from the nearest place that has them."""
    entry = DATASETS[name]
    folder = os.environ.get("MERCER_DATA")
    if folder:
        if not Path(folder).is_dir():
            raise FileNotFoundError(f"MERCER_DATA names {folder!r}, which is not a folder.")
        path = Path(folder, entry.file)
        if path.is_file():
            return _read_published(path, entry)
    kept = get_data_home(data_home) / f"{name.replace('/', '-')}.npz"
    if kept.is_file() and (arrays := _read_kept(kept, entry.download)):
        return arrays
    if not download_if_missing:
        raise FileNotFoundError(
            f"The data set {name!r} is neither in the folder that MERCER_DATA names nor in "
            f"{kept.parent}, and download_if_missing is False."
        )
    arrays = _rebuild_from_source(name, entry.download, kept.parent)
    with written_whole(kept) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return arrays


def content_checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of names, types, shapes and values, whatever file holds them.

    Examples
    --------
    >>> content_checksum({"y": np.array([1, 2], dtype=np.int64)})[:8]
    '1009a96f'
    """
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _read_published(path: Path, entry: DataSet) -> Arrays:
    raw = path.read_bytes()
    found = hashlib.sha256(raw).hexdigest()
    if found != entry.sha256:
        raise ValueError(
            f"{path} is damaged or another version: its SHA-256 is {found}, expected is "
            f"{entry.sha256}."
        )
    return _rebuild.table(raw) if path.suffix == ".csv" else _read_arrays(raw)


def _read_arrays(raw: bytes) -> Arrays:
    with np.load(io.BytesIO(raw), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _read_kept(path: Path, download: Download) -> Arrays | None:
    """Return what was kept, or None where it is damaged and must be fetched again."""
    try:
        arrays = _read_arrays(path.read_bytes())
    except Exception:
        return None
    return arrays if content_checksum(arrays) == download.content else None


def _rebuild_from_source(name: str, download: Download, home: Path) -> Arrays:
    """Download and rebuild a set, from a file that another set left where there is one."""
    left = home / download.files[0].rpartition("/")[2] if download.keep else None
    if left is not None and left.is_file():
        try:
            return _rebuild_from(name, download, [left.read_bytes()])
        except ValueError:  # damaged; a new one will do
            left.unlink()
    try:
        files = [_get(address) for address in _addresses(download)]
    except (OSError, HTTPException) as error:
        raise OSError(
            f"The data set {name!r} could not be downloaded ({error}); set MERCER_DATA to a folder "
            f"that holds {DATASETS[name].file}."
        ) from error
    arrays = _rebuild_from(name, download, files)
    if left is not None:
        with written_whole(left) as file:
            file.write(files[0])
    return arrays


def _rebuild_from(name: str, download: Download, files: list[bytes]) -> Arrays:
    options = {"part": download.part} if download.part else {}
    try:
        arrays = getattr(_rebuild, download.build)(*files, **options)
    except ImportError:
        raise
    except Exception as error:
        raise ValueError(_unexpected(name, download)) from error
    if content_checksum(arrays) != download.content:
        raise ValueError(_unexpected(name, download))
    return dict(arrays)


def _addresses(download: Download) -> list[str]:
    server = os.environ.get("MERCER_MIRROR", SERVER).rstrip("/")
    return [f"{server}/{file}" for file in download.files]


def _unexpected(name: str, download: Download) -> str:
    addresses = " and ".join(_addresses(download))
    return (
        f"What {addresses} gave is not the data set {name!r} (checksums differ); "
        f"set MERCER_DATA to a folder that holds {DATASETS[name].file}."
    )


def _get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=SECONDS) as answer:
        return bytes(answer.read())
