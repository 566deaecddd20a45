"""Files with a right checksum in which one thing is not as it was saved.

``python -m tests.persistence.forging --count 60`` makes so many of each model, loads them, and
counts what happens: refused in a sentence, the same answers, other answers, or answers that fail.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer.persistence import ModelFileError
from mercer.persistence._archive import HEADER, SCHEMA, sealed

from .damage import Case, members_of

Answers = dict[str, Any]
NUMBERS = ("0", "-1", "1", "2", "7", "0.5", "-3.5", "1000000000", "1e300", "1e-300", "NaN")
OTHERS = (*NUMBERS, "null", "true", '"x"', '"rbf"', '"precomputed"', "Infinity", '""')


def forgeries(content: bytes, count: int, seed: int) -> Iterator[Case]:
    """Yield changed files: attributes, numbers, lengths and types of arrays, kinds, the header."""
    good = members_of(content)
    random = np.random.default_rng(seed)
    arrays = [name for name in good if name.endswith(".npy")]
    makers = [_changed_plan, _changed_plan, _changed_header]
    makers += [_changed_array] * (3 if arrays else 0)
    for _ in range(count):
        maker = makers[int(random.integers(len(makers)))]
        name, member, changed = maker(good, random)
        if changed != good[member]:
            yield f"{member}: {name}", sealed(good | {member: changed}).tobytes()


def _changed_array(good: dict[str, bytes], random: Any) -> tuple[str, str, bytes]:
    member = str(random.choice([name for name in good if name.endswith(".npy")]))
    array = np.load(io.BytesIO(good[member]))
    name = str(random.choice(sorted(ARRAYS)))
    try:
        changed = ARRAYS[name](array, random)
    except (ValueError, IndexError, TypeError, ArithmeticError):
        name, changed = "nothing", np.zeros(0)  # of an array to which that cannot be done
    buffer = io.BytesIO()
    np.save(buffer, changed)
    return name, member, buffer.getvalue()


def _with_entry(array: Any, random: Any, value: Any) -> Any:
    changed = array.copy()
    place = int(random.integers(max(1, array.size)))
    if array.dtype.names:
        field = str(random.choice(array.dtype.names))
        changed[field].flat[place] = value(changed[field].flat[place])
    else:
        changed.flat[place] = value(changed.flat[place])
    return changed


ARRAYS: dict[str, Any] = {
    "an entry doubled": lambda a, r: _with_entry(a, r, lambda v: 2 * v + 1),
    "an entry a little larger": lambda a, r: _with_entry(a, r, lambda v: v * 1.001),
    "an entry negative": lambda a, r: _with_entry(a, r, lambda v: -v),
    "an entry zero": lambda a, r: _with_entry(a, r, lambda v: v - v),
    "an entry huge": lambda a, r: _with_entry(a, r, lambda v: 10**9),
    "an entry NaN": lambda a, r: _with_entry(a, r, lambda v: np.nan),
    "an entry infinite": lambda a, r: _with_entry(a, r, lambda v: np.inf),
    "a row fewer": lambda a, r: a[:-1],
    "a row more": lambda a, r: np.concatenate([a, a[-1:]]),
    "twice the rows": lambda a, r: np.concatenate([a, a]),
    "a column fewer": lambda a, r: np.ascontiguousarray(a[:, :-1]),
    "a column more": lambda a, r: np.concatenate([a, a[:, :1]], axis=1),
    "transposed": lambda a, r: np.ascontiguousarray(a.T),
    "reversed": lambda a, r: np.ascontiguousarray(a[::-1]),
    "flat": lambda a, r: a.ravel(),
    "one axis more": lambda a, r: a[None],
    "one number": lambda a, r: a.flat[0],
    "zeros": lambda a, r: np.zeros_like(a),
    "single precision": lambda a, r: a.astype(np.float32),
    "whole numbers": lambda a, r: a.astype(np.int64),
    "small whole numbers": lambda a, r: a.astype(np.int8),
    "text": lambda a, r: a.astype(str),
    "truth values": lambda a, r: a.astype(bool),
    "complex": lambda a, r: a.astype(complex),
    "dates": lambda a, r: a.astype(np.int64).astype("datetime64[s]"),
}


def _nodes(part: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield all entries of a plan that are nodes: where, what holds them, by which key."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(value, dict) and "__loader__" in value:
            yield f"{path}/{key}", part, key
        if isinstance(value, dict | list):
            yield from _nodes(value, path if key == "content" else f"{path}/{key}")


def _changed_plan(good: dict[str, bytes], random: Any) -> tuple[str, str, bytes]:
    plan = json.loads(good[SCHEMA])
    nodes = [node for node in _nodes(plan) if "key_types" not in node[0]]
    path, owner, key = nodes[int(random.integers(len(nodes)))]
    how = str(random.choice(["dropped", "another node", "value", "value", "another type"]))
    if how == "dropped":
        _drop(plan, owner, key)
    elif how == "another node":
        _, other, name = nodes[int(random.integers(len(nodes)))]
        owner[key] = _unnumbered(copy.deepcopy(other[name]))
    elif how == "another type":
        known = [o[k] for _, o, k in nodes if o[k]["__loader__"] == owner[key]["__loader__"]]
        other = known[int(random.integers(len(known)))]
        owner[key] = {**owner[key], **{k: other[k] for k in ("__class__", "__module__")}}
    elif owner[key]["__loader__"] == "JsonNode":
        how = str(random.choice(OTHERS))
        owner[key]["content"] = how
    else:
        how = str(random.choice(OTHERS))
        owner[key] = _single(how)
    return f"{path} {how}", SCHEMA, json.dumps(plan, separators=(",", ":")).encode()


def _single(text: str) -> dict[str, Any]:
    names = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode"}
    return {**names, "content": text, "is_json": True}


def _unnumbered(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _unnumbered(value) for key, value in node.items() if key != "__id__"}
    return [_unnumbered(value) for value in node] if isinstance(node, list) else node


def _drop(plan: Any, owner: Any, key: Any) -> None:
    """Take an entry away, and the type of its key where it stands in a dictionary."""
    for _, holder, name in [("", {"plan": plan}, "plan"), *_nodes(plan)]:
        node = holder[name]
        if node.get("content") is owner and node["__loader__"] == "DictNode":
            del node["key_types"]["content"][list(owner).index(key)]
            break
    del owner[key]


def _changed_header(good: dict[str, bytes], random: Any) -> tuple[str, str, bytes]:
    header = json.loads(good[HEADER])
    key = str(random.choice(["n_features", "feature_names", "classes", "type", "probe", "fitted"]))
    if key == "probe" and header["probe"] is not None:
        text = json.dumps(header["probe"])
        numbers = list(re.finditer(r"\d+(\.\d+)?", text))
        found = numbers[int(random.integers(len(numbers)))]
        changed = f"{text[: found.start()]}{random.choice(['0', '31', '1e9'])}{text[found.end() :]}"
        try:
            header[key] = json.loads(changed)
        except ValueError:  # 01 is no number
            header[key] = {"rows": [], "answers": {}}
    else:
        header[key] = json.loads(str(random.choice(OTHERS)).replace("NaN", "[1, 2]"))
    return f"{key} {str(header[key])[:30]}", HEADER, json.dumps(header, indent=1).encode()


def outcome(path: Path, X: Any, expected: Answers) -> tuple[str, str]:
    """Return what becomes of a file, in one word and in its own words."""
    from .models import answers

    try:
        model = mercer.load(path)
    except ModelFileError as error:
        said = str(error)
        assert re.fullmatch(r"[^\n]{20,700}\.", said), said
        assert said.isprintable(), said
        return "refused", said
    try:
        found = answers(model, X)
    except Exception as error:
        return "fails", f"{type(error).__name__}: {str(error)[:100]}"
    return ("same" if _same(found, expected) else "other"), ""


def _same(found: Answers, expected: Answers) -> bool:
    if set(found) != set(expected):
        return False
    for name, values in expected.items():
        one, other = np.asarray(found[name]), np.asarray(values)
        if one.shape != other.shape:
            return False
        if other.dtype.kind != "f":
            if one.tolist() != other.tolist():
                return False
            continue
        scale = max(1e-300, np.abs(other[np.isfinite(other)]).max(initial=0.0))
        if not np.allclose(one, other, rtol=0.0, atol=1e-6 * scale, equal_nan=True):
            return False
    return True


def zoo() -> Iterator[tuple[str, Any, Any]]:
    """Yield fitted models with rows for them."""
    from .make_files import FILES, rows
    from .models import fitted_variants
    from .test_around import AROUND, flowers_data

    for model, X in fitted_variants():
        yield repr(model), model, X
    X, y = flowers_data.__wrapped__()
    for name, model in AROUND.items():
        yield name, model.fit(X, y), X
    for path in sorted(FILES.glob("*/*.mercer")):
        if path.stem != "unfitted":
            yield path.stem, mercer.load(path), rows(path.stem)


def main() -> None:
    """Count outcomes over all models."""
    from .models import answers

    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.mercer"
        for number, (name, model, X) in enumerate(zoo()):
            mercer.save(model, path)
            expected, content = answers(model, X), path.read_bytes()
            assert outcome(path, X, expected)[0] == "same", name
            for case, changed in forgeries(content, given.count, given.seed + number):
                path.write_bytes(changed)
                start = time.process_time()
                found, said = outcome(path, X, expected)
                counts[found] += 1
                if found in ("fails", "other") or time.process_time() - start > 5:
                    print(f"{found}: {name[:60]!r}, {case}: {said}", flush=True)
    print(dict(counts), sum(counts.values()))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
