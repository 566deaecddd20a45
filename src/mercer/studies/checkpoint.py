"""A file that keeps every finished cell, whenever the work is cut off."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Self

from mercer._files import read_records, record_line, write_text_whole

from .study import Cell, Study, StudyError

Record = dict[str, Any]

FILE = "checkpoint.jsonl"
LOCK = ".lock"


class FinishedCells:
    """The finished cells of a study, kept only as long as the process lives."""

    def __init__(self) -> None:
        self.records: dict[Cell, Record] = {}
        self.dropped = 0

    def add(self, record: Record) -> None:
        """Keep a finished cell."""
        self.records[cell_of(record)] = record

    def close(self) -> None:
        """Give back what is held open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Checkpoint(FinishedCells):
    """The finished cells of a study in a folder, one line each, with a checksum.

    A line is written whole and flushed before the next cell counts. What a sudden end leaves of a
    line fails its checksum and is dropped when the file is opened again; its cell is then done
    again.

    Parameters
    ----------
    folder : path-like
    study : Study
    seed : int
        The base of all seeds; results of another base are not taken.
    fresh : bool, default=False
        Whether to put earlier results aside, under another name, and begin anew.

    Attributes
    ----------
    records : dict of Cell to dict
        What was found, and what was added since.
    dropped : int
        Lines that were not whole.

    Raises
    ------
    StudyError
        If the results in the folder are of another definition of the study, or if another process
        writes there.
    """

    def __init__(self, folder: Any, study: Study, seed: int = 0, fresh: bool = False) -> None:
        super().__init__()
        self.path = Path(folder) / FILE
        self._lock = _lock(Path(folder))
        try:
            if fresh and self.path.exists():
                self.path.rename(_free_name(self.path))
            whole, self.dropped = read_records(self.path)
            self.records = _usable(whole, study, seed, self.path)
            if self.dropped:
                write_text_whole(self.path, "".join(map(record_line, whole)))
            self._file = self.path.open("a", encoding="utf-8")
        except BaseException:
            self._lock.close()
            raise

    def add(self, record: Record) -> None:
        """Keep a finished cell, in the file first."""
        self._file.write(record_line(record))
        self._file.flush()
        super().add(record)

    def close(self) -> None:
        """Close the file and let others write, also where the disk is full."""
        try:
            self._file.close()
        finally:
            self._lock.close()


def cell_of(record: Record) -> Cell:
    """Return the cell that a record is of."""
    return Cell(record["configuration"], record["method"], record["repetition"])


def _usable(whole: Iterable[Record], study: Study, seed: int, path: Path) -> dict[Cell, Record]:
    """Return the records by cell; refuse them where the study was another one."""
    configurations = {configuration.name: configuration for configuration in study.configurations}
    records, changed = {}, set()
    for record in whole:
        cell = cell_of(record)
        configuration = configurations.get(cell.configuration)
        if configuration is None or cell.method not in study.methods:
            continue  # A part that the study no longer has; it stays in the file.
        if record["definition"] == study.definition(configuration, cell.method, seed):
            records[cell] = record
        else:
            changed.add(f"{cell.configuration}/{cell.method}")
    if changed:
        raise StudyError(
            f"{path} holds results of another definition of study {study.name!r} or another seed "
            f"({len(changed)} parts, such as {min(changed)}); take another folder, or begin afresh."
        )
    return records


def _free_name(path: Path) -> Path:
    number = 1
    while (name := path.with_stem(f"{path.stem}-{number}")).exists():
        number += 1
    return name


def _lock(folder: Path) -> IO[str]:
    """Keep other processes out until the file is closed, which the end of the process also does."""
    folder.mkdir(parents=True, exist_ok=True)
    file = (folder / LOCK).open("w")
    try:
        import fcntl
    except ImportError:  # Windows
        return file
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        file.close()
        raise StudyError(f"Another process is writing to {folder}; wait for its end.") from None
    except OSError:  # A file system that knows no locks.
        return file
    return file
