"""Files are found whole or not at all, with the permissions that others have."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from mercer._files import check_writable, write_text_whole, written_whole


def test_a_reader_finds_the_old_text_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_text_whole(path, "old\r\n")
    with written_whole(path) as file:
        file.write(b"ne")
        assert path.read_bytes() == b"old\r\n"
        file.write("ü\n".encode())
    assert path.read_bytes() == "neü\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def break_off(path: Path, error: type[BaseException]) -> None:
    with written_whole(path) as file:
        file.write(b"half")
        raise error


def test_errors_name_the_place_that_was_asked_for(tmp_path: Path) -> None:
    for place in (tmp_path / "no folder" / "file", tmp_path / ("long" * 100)):
        with pytest.raises(OSError, match=r"\[Errno") as error:
            write_text_whole(place, "text")
        assert error.value.filename == str(place)
        assert ".part" not in str(error.value)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_leaves_nothing_behind(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "file"
    write_text_whole(path, "old")
    for place in (path, tmp_path / "new"):
        with pytest.raises(error):
            break_off(place, error)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="permissions are others there")
def test_permissions_are_the_usual_ones_and_stay(tmp_path: Path) -> None:
    plain, path = tmp_path / "plain", tmp_path / "file"
    plain.write_text("")
    write_text_whole(path, "")
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o640)
    write_text_whole(path, "more")
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_goes_on_leading_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    path, link = tmp_path / "far" / "file", tmp_path / "link"
    link.symlink_to(path)
    write_text_whole(link, "text")
    assert link.is_symlink()
    assert path.read_text() == "text"


def test_writers_at_the_same_time_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "file"
    texts = [letter * 100_000 for letter in "abcd"]
    threads = [threading.Thread(target=write_text_whole, args=(path, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in texts
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_file_is_written_to_and_stays(tmp_path: Path) -> None:
    """Before, a pipe or a device was replaced by a file of its name."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    check_writable(pipe)
    write_text_whole(pipe, "text")
    reader.join()
    assert read == [b"text"]
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
