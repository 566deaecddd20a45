"""Small files by hand: what people write, and what is none of their business."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from odd_inputs import Case, excel, packed, parquet, people, written

NAN = float("nan")


def column(name: str, *expected: Any) -> Callable[[Any], None]:
    """The column begins with these values."""

    def check(table: Any) -> None:
        found = table.frame[name].iloc[: len(expected)].tolist()
        for value, wanted in zip(found, expected, strict=True):
            if isinstance(wanted, float):
                np.testing.assert_allclose(value, wanted)
            else:
                assert (None if pd.isna(value) else value) == wanted

    return check


def classes(**expected: int) -> Callable[[Any], None]:
    def check(table: Any) -> None:
        assert table.class_counts() == {name.strip("_"): n for name, n in expected.items()}

    return check


def left_out(name: str, part: str) -> Callable[[Any], None]:
    def check(table: Any) -> None:
        assert part in table.left_out[name]
        assert name not in table.frame

    return check


def features(*names: str) -> Callable[[Any], None]:
    def check(table: Any) -> None:
        assert list(table.frame.columns) == list(names), table.left_out

    return check


def says(part: str) -> Callable[[Any], None]:
    def check(table: Any) -> None:
        assert any(part in notice for notice in table.notices), table.notices

    return check


def both(*checks: Callable[[Any], None]) -> Callable[[Any], None]:
    def check(table: Any) -> None:
        for each in checks:
            each(table)

    return check


def rows_of(*values: str, times: int = 3) -> str:
    """Lines with a column of the given cells, a plain number and a label."""
    cells = values * times
    rng = np.random.default_rng(0)
    lines = [f"{v},{rng.normal():.3f},{'no' if k % 3 else 'yes'}\n" for k, v in enumerate(cells)]
    return "v,w,label\n" + "".join(lines)


NUMBERS = {
    "thousands": (('"1,234"', '"12,345"', "7"), (1234.0, 12345.0, 7.0)),
    "thousands and point": (('"1,234.5"', '"12,345.25"', "7"), (1234.5, 12345.25, 7.0)),
    "continental": (('"1.234,5"', '"12.345,25"', '"7,5"'), (1234.5, 12345.25, 7.5)),
    "spaces between thousands": (("1 234", "12 345", "7"), (1234.0, 12345.0, 7.0)),
    "apostrophes": (("1'234", "12'345", "7"), (1234.0, 12345.0, 7.0)),
    "percent": (("12 %", "7%", "3.5 %"), (12.0, 7.0, 3.5)),
    "some percent": (("12 %", "0.5", "0.25"), (0.12, 0.5, 0.25)),
    "money": (("$12.50", "€7", "-$3"), (12.5, 7.0, -3.0)),
    "accountants": (("(12.5)", "7", "8"), (-12.5, 7.0, 8.0)),
    "minus sign": (("\u22125", "7", "8"), (-5.0, 7.0, 8.0)),
    "exponents": (("1e3", "2E-2", "+4"), (1000.0, 0.02, 4.0)),
    "dash": (("-", "7", "8"), (NAN, 7.0, 8.0)),
    "unknown": (("unknown", "7", "8"), (NAN, 7.0, 8.0)),
    "question mark": (("?", "7", "8"), (NAN, 7.0, 8.0)),
    "NA": (("NA", "7", "8"), (NAN, 7.0, 8.0)),
    "n/a": (("n/a", "7", "8"), (NAN, 7.0, 8.0)),
    "errors of Excel": (("#DIV/0!", "7", "8"), (NAN, 7.0, 8.0)),
    "infinite": (("inf", "7", "8"), (NAN, 7.0, 8.0)),
    "too large": (("1e999", "7", "8"), (NAN, 7.0, 8.0)),
    "bare": ((".5", "5.", "8"), (0.5, 5.0, 8.0)),
    "huge integers": (("99999999999999999999", "1", "2"), (1e20, 1.0, 2.0)),
    "truth": (("True", "False", ""), (1.0, 0.0, NAN)),
}
TEXTS = {
    "formula": (("=A1+B1", "=SUM(A1:B2)", "x"), ("=A1+B1", "=SUM(A1:B2)", "x")),
    "command": (("=cmd|' /C calc'!A0", "@x", "y"), ("=cmd|' /C calc'!A0", "@x", "y")),
    "words and numbers": (("low", "7", "8"), ("low", "7", "8")),
    "gaps": (("red", "", "blue"), ("red", None, "blue")),
    "nan among words": (("red", "NaN", "blue"), ("red", None, "blue")),
    "NA among words": (("red", "NA", "blue"), ("red", None, "blue")),
    "NA among codes": (("EU", "NA", "AS"), ("EU", "NA", "AS")),
    "quoted line": (('"a\nb"', "c", "d"), ("a\nb", "c", "d")),
    "quotation marks": (('"say ""x"""', "c", "d"), ('say "x"', "c", "d")),
    "markup": (("<script>alert(1)</script>", "c", "d"), ("<script>alert(1)</script>", "c", "d")),
    "letters of the world": (("東京", "القاهرة", "🙂"), ("東京", "القاهرة", "🙂")),
    "spaces around": (("  red ", "blue  ", "x"), ("red", "blue", "x")),
}
DATES = {
    "iso": (("2021-03-04", "2022-12-31", "2020-01-01"), "2021-03-04"),
    "iso with time": (("2021-03-04T05:06:07", "2022-12-31T00:00:00", "2020-01-01"), "2021-03-04"),
    "iso with zone": (("2021-03-04T05:06:07Z", "2022-12-31T00:00:00+01:00"), "2021-03-04"),
    "german": (("04.03.2021", "31.12.2022", "01.01.2020"), "2021-03-04"),
    "day first": (("04/03/2021", "31/12/2022", "01/01/2020"), "2021-03-04"),
    "month first": (("03/04/2021", "12/31/2022", "01/01/2020"), "2021-03-04"),
    "words": (("4 Mar 2021", "31 Dec 2022", "1 Jan 2020"), "2021-03-04"),
    "no such day": (("2021-03-04",) * 30 + ("2021-04-01", "0000-00-00"), "2021-03-04"),
}


def _date(first: str) -> Callable[[Any], None]:
    def check(table: Any) -> None:
        assert table.frame["v"].dtype.kind == "M"
        assert str(table.frame["v"].iloc[0].date()) == first

    return check


REFUSED = {
    "nothing": ("", "is empty"),
    "blank lines": ("\n\n\n", "no cells"),
    "only separators": (",,\n,,\n", "no cells"),
    "only a header": ("a,b,label\n", "no rows"),
    "one row": ("a,b,label\n1,2,x\n", "only one row"),
    "one class": ("a,label\n1,x\n2,x\n3,x\n", "two classes"),
    "a class for each row": ("a,label\n1,x\n2,y\n1,z\n", "no classes"),
    "nearly a class for each row": (
        "a,label\n"
        + "".join(f"{k % 7},0{k % 50 % 9 + 1}.0{k % 50 % 8 + 1}.2024\n" for k in range(60)),
        "most of which come once",
    ),
    "no target": ("a,label\n1,\n2,\n3,\n", "is empty"),
    "only marks for nothing": ("a,label\n1,?\n2,?\n3,?\n", "target"),
    "no features": ("label\nx\ny\nx\n", "left to learn from"),
    "constant features": ("a,b,label\n1,2,x\n1,2,y\n1,2,x\n", "left to learn from"),
    "empty features": ("a,b,label\n,,x\n,,y\n,,x\n", "left to learn from"),
    "no such column": ("a,b,lable\n1,2,x\n2,3,y\n2,5,y\n", "did you mean 'lable'?"),
    "nothing like it": ("a,b,c\n1,2,x\n2,3,y\n2,5,y\n", "there are 'a', 'b', 'c'"),
    "too many cells": ("a,label\n1,x\n2,y\n1,2,3,4\n", "line 4 has 4 values where 2"),
    "too many cells at once": ("a,label\n1,2,3,4,5\n1,2,3,4,5\n", "names 2 columns"),
    "open quotation": ('a,label\n1,x\n2,"y\n3,x\n4,y\n', "quotation mark"),
    "web page": ("<!DOCTYPE html><html><body>404</body></html>", "web page"),
    "another web page": ("<html>\n<table></table></html>", "web page"),
    "xml": ('<?xml version="1.0"?><a/>', "XML"),
    "pdf": ("%PDF-1.7\n1 0 obj", "PDF"),
    "rtf": ("{\\rtf1 hello}", "text document"),
    "json": ('{"a": [1, 2], "label": ["x", "y"]}\n', "."),
    "a poem": ("The woods are lovely\ndark and deep\nBut I have promises to keep\n", "."),
    "infinite target": ("a,label\n1,inf\n2,inf\n3,inf\n", "."),
}
BYTES_REFUSED = {
    "old Excel": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, "old Excel"),
    "picture": (b"\x89PNG\r\n\x1a\n" + b"\x00" * 100, "picture"),
    "database": (b"SQLite format 3\x00" + b"\x00" * 100, "database"),
    "array": (b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'}", "NumPy"),
    "pickle": (b"\x80\x04\x95\x10\x00\x00\x00", "pickle"),
    "zeros": (b"\x00" * 5000, "not text"),
    "empty gz": (gzip.compress(b""), "is empty"),
    "empty zip": (b"PK\x05\x06" + b"\x00" * 18, "holds no file"),
    "half a mark": (b"\xff\xfe", "no cells"),
    "odd UTF-16": (b"\xff\xfea\x00,\x00b", "not text in utf-16"),
    "packed twice": (gzip.compress(gzip.compress(b"a,label\n1,x\n")), "packed twice"),
}


def _zip(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__dot__", "."), data)
    return buffer.getvalue()


def _locked() -> bytes:
    data = bytearray(_zip(people__dot__csv=written(people())))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag of encryption
        data[data.index(mark) + place] |= 1
    return bytes(data)


def archives() -> list[Case]:
    data = written(people())
    made = {
        "two tables": (_zip(a__dot__csv=data, b__dot__csv=data), "holds 2 files"),
        "a table and a text": (
            _zip(a__dot__csv=data, readme__dot__md=b"x"),
            features("höhe", "age", "town"),
        ),
        "a Parquet file": (
            _zip(a__dot__parquet=parquet(people())),
            features("höhe", "age", "town"),
        ),
        "a locked file": (_locked(), "password"),
        "a document": (_zip(**{"[Content_Types]__dot__xml": b"x", "word": b"x"}), "office"),
    }
    return [Case(f"zip with {name}", "a.zip", lambda d=d: d, o) for name, (d, o) in made.items()]


SPECIAL: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "duplicated headers": (
        "a,a,a,label\n" + "1,2,3,x\n2,5,4,y\n3,1,9,y\n" * 3,
        both(features("a", "a_2", "a_3"), says("same name")),
        {},
    ),
    "duplicates that exist": (
        "a,a_2,a,label\n" + "1,2,3,x\n2,5,4,y\n3,1,9,y\n" * 3,
        features("a", "a_2", "a_3"),
        {},
    ),
    "nameless columns": (
        ",b,,label\n" + "1,2,3,x\n2,5,4,y\n2,1,9,y\n" * 3,
        features("Unnamed: 0", "b", "Unnamed: 2"),
        {},
    ),
    "row names of R": (
        "a,b,label\n" + "".join(f"r{k},{k % 3},{k * k % 7},{'xy'[k % 2]}\n" for k in range(12)),
        both(features("a", "b"), left_out("row_name", "names of rows")),
        {},
    ),
    "separator at the end": (
        "a,b,label\n" + "1,2,x,\n2,5,y,\n3,1,y,\n" * 3,
        both(features("a", "b"), classes(x=3, y=6)),
        {},
    ),
    "title lines": (
        "Report of March\n\na,b,label\n" + "1,2,x\n2,5,y\n3,1,y\n" * 3,
        both(features("a", "b"), says("before the table")),
        {},
    ),
    "remarks": (
        "# made by hand\n# in March\na,b,label\n" + "1,2,x\n2,5,y\n3,1,y\n" * 3,
        both(features("a", "b"), says("before the table")),
        {},
    ),
    "hash before the header": (
        "#a b label\n" + "1 2 x\n2 5 y\n3 1 y\n" * 3,
        features("a", "b"),
        {},
    ),
    "a tab before the last column": (
        '1.5  4  307.0  ?\t"chevy one"\n2.5   8 97.0   46\t"vw two"\n' * 4,
        both(features("c1", "c2", "c3"), classes(**{"chevy one": 4, "vw two": 4})),
        {"target": -1},
    ),
    "hint of Excel": ("sep=;\na;b;label\n" + "1;2;x\n2;5;y\n3;1;y\n" * 3, features("a", "b"), {}),
    "short lines": (
        "a,label,b\n" + "1,x,2\n2,y\n3,y,1\n" * 3,
        both(features("a", "b"), says("3 lines have fewer values")),
        {},
    ),
    "columns by number": (
        "0,1,2,label\n" + "1,2,3,x\n2,5,4,y\n3,1,9,y\n" * 3,
        features("0", "1", "2"),
        {"target": "label"},
    ),
    "no header, only numbers": (
        "1.5,2,0\n2.5,5,1\n3.5,1,1\n" * 3,
        both(features("c1", "c2"), classes(_0=3, _1=6), says("no line of column names")),
        {"target": -1},
    ),
    "no header, only words": (
        "p,x,s\np,y,t\ne,x,s\ne,y,t\n" * 3,
        both(features("c2", "c3"), classes(p=6, e=6)),
        {"target": "c1"},
    ),
    "a header that is denied": (
        "a,b,c\nd,e,f\na,e,c\nd,b,f\n" * 2,
        both(features("c1", "c2"), classes(c=4, f=4)),
        {"target": "c3", "header": False},
    ),
    "a header that is claimed": (
        "1,2\n5,x\n6,y\n6,x\n7,y\n",
        features("1"),
        {"target": "2", "header": True},
    ),
    "NA beside EU": (
        "a,label\n" + "1,EU\n2,NA\n3,AS\n1,NA\n" * 3,
        both(classes(EU=3, NA=6, AS=3), says("'NA'")),
        {},
    ),
    "NA beside yes": (
        "a,label\n" + "1,yes\n2,NA\n3,no\n1,no\n" * 3,
        both(classes(yes=3, no=6), says("taken as missing")),
        {},
    ),
    "NA beside gaps": (
        "a,label\n" + "1,yes\n2,NA\n3,no\n1,\n2,yes\n" * 3,
        both(classes(yes=6, no=3, NA=3), says("'NA'")),
        {},
    ),
    "none as a class": ("a,label\n" + "1,none\n2,mild\n3,mild\n" * 3, classes(none=3, mild=6), {}),
    "minus as a class": (
        "a,label\n" + "1,+\n2,-\n3,+\n" * 3,
        both(classes(**{"+": 6, "-": 3})),
        {},
    ),
    "separator given": (
        "a:b:label\n" + "1:2:x\n2:5:y\n3:1:y\n" * 3,
        features("a", "b"),
        {"separator": ":"},
    ),
    "svmlight": (
        "+1 1:0.5 3:2\n-1 2:1.5 3:1\n+1 1:1 2:3\n-1 3:4\n",
        both(features("c1", "c2", "c3"), classes(**{"1": 2, "-1": 2}), column("c1", 0.5, 0.0)),
        {"target": None},
    ),
    "svmlight with a target": ("1 1:1 2:3\n0 1:2 2:1\n", "its own target", {"target": "label"}),
    "encoding that is none": ("a,label\n1,x\n", "no encoding 'klingon'", {"encoding": "klingon"}),
    "encoding that is no text": ("a,label\n1,x\n", "no encoding 'hex'", {"encoding": "hex"}),
    "separator that is none": ("a,label\n1,x\n", "one character", {"separator": "::"}),
    "task that is none": ("a,label\n1,x\n", "did you mean 'regression'?", {"task": "regresion"}),
    "regression of words": ("a,label\n1,x\n2,y\n", "holds 'x'", {"task": "regression"}),
    "drop that is none": ("age,label\n1,x\n2,y\n", "did you mean 'age'?", {"drop": ["agee"]}),
    "groups that are none": ("age,label\n1,x\n2,y\n", "for groups", {"groups": "zzz"}),
    "time that is none": ("age,label\n1,x\n2,y\n", "for time", {"time": "zzz"}),
    "time of words": ("t,a,label\nu,1,x\nv,2,y\n", "neither dates nor", {"time": "t"}),
    "category that is none": ("age,label\n1,x\n2,y\n", "categorical", {"categorical": "zzz"}),
    "positive that is none": (
        "age,b,label\n1,2,yes\n2,3,no\n2,4,no\n",
        "did you mean 'yes'?",
        {"positive": "yess"},
    ),
    "no target said": ("age,label\n1,x\n2,y\n", "Say which column", {"target": None}),
    "place that is none": ("age,label\n1,x\n2,y\n", "no column '7'", {"target": 7}),
}


def cases() -> list[Case]:
    made = []
    for name, (cells, expected) in NUMBERS.items():
        data = rows_of(*cells).encode()
        made.append(Case(f"number: {name}", "a.csv", lambda d=data: d, column("v", *expected)))
    for name, (cells, expected) in TEXTS.items():
        data = rows_of(*cells).encode()
        made.append(Case(f"text: {name}", "a.csv", lambda d=data: d, column("v", *expected)))
    for name, (cells, first) in DATES.items():
        data = rows_of(*cells).encode()
        made.append(Case(f"date: {name}", "a.csv", lambda d=data: d, _date(first)))
    for name, (text, part) in REFUSED.items():
        made.append(Case(f"refused: {name}", "a.csv", lambda d=text: d.encode(), part))
    for name, (data, part) in BYTES_REFUSED.items():
        made.append(Case(f"refused: {name}", "a.csv", lambda d=data: d, part))
    for name, (text, outcome, options) in SPECIAL.items():
        given = {"target": "label", **options}
        made.append(Case(f"special: {name}", "a.csv", lambda d=text: d.encode(), outcome, given))
    return [*made, *archives(), *sheets()]


def _with_far_cell() -> bytes:
    """A sheet as it is after a slip of the hand: a million empty lines, and one more cell."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["x", "label"])
    for k in range(40):
        book.active.append([k * k % 7, "ab"[k % 2]])
    book.active["XFD1048576"] = " "
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def sheets() -> list[Case]:
    truth = people()
    mixed = truth.astype(object)
    mixed.loc[3, "age"] = "unknown"
    dated = truth.assign(day=pd.date_range("2020-01-01", periods=len(truth))[::-1])
    titled = pd.DataFrame([["Report", None, None], *truth[["age", "town", "label"]].to_numpy()])
    bare = excel(titled.iloc[1:], header=False)
    return [
        Case("sheet: a cell in its last corner", "a.xlsx", _with_far_cell, classes(a=20, b=20)),
        Case("sheet: a word among numbers", "a.xlsx", lambda: excel(mixed), says("'unknown'")),
        Case("sheet: dates", "a.xlsx", lambda: excel(dated), _is_date("day")),
        Case("sheet: no header", "a.xlsx", lambda: bare, "no column 'label'"),
        Case("sheet: empty", "a.xlsx", lambda: excel(pd.DataFrame()), "no cells"),
        Case("sheet: a header", "a.xlsx", lambda: excel(truth.iloc[:0]), "no rows"),
        Case("gz with a sheet", "a.gz", lambda: packed(excel(truth), "gz"), says_nothing),
    ]


def says_nothing(table: Any) -> None:
    assert table.notices == ()
    assert table.frame.shape == (40, 3)


def _is_date(name: str) -> Callable[[Any], None]:
    def check(table: Any) -> None:
        assert table.frame[name].dtype.kind == "M"

    return check
