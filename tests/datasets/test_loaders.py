"""Data sets are what their README says, wherever they come from."""

import bz2
import contextlib
import doctest
import functools
import hashlib
import http.server
import io
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import mercer.datasets.ida
import mercer.datasets.loaders
from mercer import datasets
from mercer.datasets import DATASETS, IDA_NAMES, load_ida
from mercer.datasets._store import content_checksum

CLASS_COUNTS = {
    "golub": [47, 25],
    "colon": [22, 40],
    "madelon": [1300, 1300],
    "hemophilia": [30, 45],
    "saheart": [302, 160],
    "winequality": [10, 53, 681, 638, 199, 18],
    "cardio": [1655, 176],
    "a9a": [24720 + 12435, 7841 + 3846],
    "ijcnn1": [45137 + 82989, 4853 + 8712],
    "shuttle": [45586, 3511],
    "usps": [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821],
    "letter": None,
}
"""From the README of the data."""

PARTS = {
    "golub": (38, 34),
    "madelon": (2000, 600),
    "usps": (7291, 2007),
    "a9a": (32561, 16281),
    "ijcnn1": (49990, 91701),
    "letter": (16000, 4000),
}

IDA_SIZES = {
    "banana": (5300, 2, 100, 400, 80),
    "breast-cancer": (277, 9, 100, 200, 100),
    "diabetis": (768, 8, 100, 468, 80),
    "flare-solar": (1066, 9, 100, 666, 87),
    "german": (1000, 20, 100, 700, 80),
    "heart": (270, 13, 100, 170, 80),
    "image": (2310, 18, 20, 1300, 15),
    "splice": (3175, 60, 20, 1000, 20),
    "thyroid": (215, 5, 100, 140, 99),
    "titanic": (2201, 3, 100, 150, 100),
}


def loader(name):
    if name.startswith("ida/"):
        return functools.partial(load_ida, name.removeprefix("ida/"))
    return getattr(datasets, f"load_{name}")


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No data folder, and an empty cache."""
    monkeypatch.delenv("MERCER_DATA", raising=False)
    monkeypatch.setenv("MERCER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


# ---- from the folder ------------------------------------------------------------------------


def test_every_file_has_the_published_checksum(data_folder):
    """The table of the README and the registry agree, and so do the files."""
    readme = (data_folder / "README.md").read_text(encoding="utf-8")
    for entry in DATASETS.values():
        raw = (data_folder / entry.file).read_bytes()
        assert hashlib.sha256(raw).hexdigest() == entry.sha256
        assert f"| `{entry.file}` |" in readme
        assert f"`{entry.sha256}`" in readme


@pytest.mark.parametrize("name", CLASS_COUNTS)
def test_classes_and_parts(data_folder, name):
    bunch = loader(name)()
    labels, counts = np.unique(bunch.target, return_counts=True)
    if CLASS_COUNTS[name] is not None:
        assert counts.tolist() == CLASS_COUNTS[name]
    assert len(bunch.target_names) == len(labels)
    assert bunch.data.dtype == np.float64
    assert bunch.data.shape == (len(bunch.target), len(bunch.feature_names))
    assert np.isfinite(bunch.data).all()
    if name in PARTS:
        assert (len(bunch.train), len(bunch.test)) == PARTS[name]
        assert np.intersect1d(bunch.train, bunch.test).size == 0
        X, y = loader(name)(subset="test", return_X_y=True)
        np.testing.assert_array_equal(X, bunch.data[bunch.test])
        np.testing.assert_array_equal(y, bunch.target[bunch.test])


@pytest.mark.parametrize("name", IDA_NAMES)
def test_ida_splits(data_folder, name):
    rows, features, n_splits, n_train, distinct = IDA_SIZES[name]
    bunch = load_ida(name)
    assert bunch.data.shape == (rows, features)
    assert set(bunch.target.tolist()) == {-1, 1}
    assert len(bunch.splits) == n_splits
    for train, test in bunch.splits:
        assert len(train) == n_train
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(rows))
    assert len(bunch.distinct_splits) == distinct
    sets = {tuple(sorted(bunch.splits[k][0])) for k in bunch.distinct_splits}
    assert len(sets) == distinct
    assert sets == {tuple(sorted(train)) for train, _ in bunch.splits}


def test_one_ida_split(data_folder):
    whole, one = load_ida("heart"), load_ida("heart", split=7)
    np.testing.assert_array_equal(one.train, whole.splits[7][0])
    X, y = load_ida("heart", split=7, subset="train", return_X_y=True)
    np.testing.assert_array_equal(X, whole.data[one.train])
    np.testing.assert_array_equal(y, whole.target[one.train])
    assert len(load_ida("heart", split=7, subset="test").target) == 100


def test_what_is_known_of_the_rows_follows_them(data_folder):
    whole, test = datasets.load_golub(), datasets.load_golub(subset="test")
    np.testing.assert_array_equal(whole.sample, np.arange(1, 73))
    np.testing.assert_array_equal(test.sample, np.arange(39, 73))
    assert whole.feature_names[-1] == "Z78285_f_at"
    colon = datasets.load_colon()
    np.testing.assert_array_equal(colon.tissue < 0, colon.target == 1)
    heart = datasets.load_saheart()
    assert heart.data[:, heart.feature_names.index("famhist")].sum() == 192


@pytest.mark.parametrize("name", ["winequality", "saheart"])
def test_frames(data_folder, name):
    plain, framed = loader(name)(), loader(name)(as_frame=True)
    np.testing.assert_array_equal(framed.data.to_numpy(), plain.data)
    assert list(framed.data.columns) == plain.feature_names
    assert framed.frame.shape == (len(plain.target), len(plain.feature_names) + 1)
    X, y = loader(name)(as_frame=True, return_X_y=True)
    assert X.shape == plain.data.shape
    assert y.name == "target"


def test_examples_of_the_loaders(data_folder):
    """The examples are skipped where the data may be missing; here they are not."""
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    finder = doctest.DocTestFinder()
    for module in (mercer.datasets.loaders, mercer.datasets.ida):
        for test in finder.find(module):
            for example in test.examples:
                example.options.pop(doctest.SKIP, None)
            runner.run(test)
    assert runner.tries > 25
    assert runner.failures == 0


def test_a_changed_file_is_refused(data_folder, tmp_path, monkeypatch):
    raw = (data_folder / "saheart.csv").read_bytes()
    (tmp_path / "saheart.csv").write_bytes(raw.replace(b"160,12.0", b"161,12.0"))
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"saheart.csv is damaged or another version: its SHA-256"):
        datasets.load_saheart()


@pytest.mark.parametrize("name", DATASETS)
def test_descriptions_are_complete(name):
    entry = DATASETS[name]
    text = entry.describe()
    for part in (entry.title, entry.source, entry.citation, entry.licence, *entry.caveats):
        assert part
        assert part in text
    if name.startswith("ida/"):
        assert "Not all splits differ" in text


# ---- from the public source -----------------------------------------------------------------


def as_golub(d):
    files = []
    for part in ("train", "test"):
        samples = d[f"sample_{part}"]
        # The columns of the public file are not in the order of the patients.
        order = np.random.default_rng(0).permutation(len(samples))
        header = ["Gene Description", "Gene Accession Number"]
        header += [word for s in samples[order] for word in (str(s), "call")]
        lines = [",".join(header)]
        for gene, values in zip(d["genes"], d[f"X_{part}"][order].T):
            calls = ",".join(f"{value:.0f},A" for value in values)
            lines.append(f'"A gene, described",{gene},{calls}')
        files.append("\n".join(lines).encode())
    both = [(d[f"sample_{p}"], d[f"y_{p}"]) for p in ("train", "test")]
    rows = [f"{s},{'AML' if y > 0 else 'ALL'}" for ss, ys in both for s, y in zip(ss, ys)]
    return [*files, "\n".join(["patient,cancer", *rows]).encode()]


def as_madelon(d):
    def text(array):
        return "\n".join(" ".join(map(str, np.atleast_1d(row))) + " " for row in array).encode()

    return [text(d["X_train"]), text(d["y_train"]), text(d["X_valid"]), text(d["y_valid"])]


def as_letter(d):
    lines = [
        ",".join([chr(65 + y), *(f"{value:.0f}" for value in row)])
        for row, y in zip(d["X"], d["y"])
    ]
    return ["\n".join(lines).encode()]


def as_sparse(d):
    files = []
    for part in ("train", "test"):
        text = io.BytesIO()
        # Nine digits name a float32; the public files have fewer where fewer do.
        dump_svmlight_file(d[f"X_{part}"].astype(float), d[f"y_{part}"], text, zero_based=False)
        files.append(bz2.compress(text.getvalue()))
    return files


def as_archive(d):
    text = io.BytesIO()
    np.savez(text, X=d["X"].astype(float), y=d["y"].astype(float))
    return [text.getvalue()]


def as_quoted_table(raw):
    header, *rows = raw.decode().splitlines()
    quoted = ",".join(f'"{name}"' for name in header.split(","))
    return ["\n".join([quoted, *(row.replace(".0,", ",") for row in rows)]).encode()]


def as_structures(sets):
    """All sets in one file: every distinct pattern once, and splits that name it, from 1."""
    from scipy.io import savemat

    structures = {}
    for name, d in sets.items():
        both = np.column_stack([d["X"], d["y"]])
        patterns, names = np.unique(both, axis=0, return_inverse=True)
        # The public file need not be sorted.
        places = np.random.default_rng(0).permutation(len(patterns))
        shuffled = np.empty_like(patterns)
        shuffled[places] = patterns
        names = places[names.ravel()] + 1.0
        structures[name.replace("-", "_")] = {
            "x": shuffled[:, :-1],
            "t": shuffled[:, -1:],
            "train": names[d["train"]],
            "test": names[d["test"]],
        }
    text = io.BytesIO()
    savemat(text, structures)
    return [text.getvalue()]


def as_colon(d):
    rows = "\n\n".join(" ".join(f"{value:.7e}" for value in row) for row in d["X"].T)
    names = "\n".join(f"{gene}\tX12345\tgene\t1 Some PROTEIN (Human)" for gene in d["genes"])
    return [rows.encode(), "\n".join(map(str, d["tissue"])).encode(), names.encode()]


def as_r_file(**objects):
    import tempfile

    rdata = pytest.importorskip("rdata")
    with tempfile.TemporaryDirectory() as folder:
        rdata.write_rda(Path(folder) / "file.rda", objects, compression=None)
        return Path(folder, "file.rda").read_bytes()


def as_r_frame(raw, name, factor):
    import pandas as pd

    frame = pd.read_csv(io.BytesIO(raw))
    frame[factor] = pd.Categorical(frame[factor])
    frame.index = pd.Index(np.arange(1, len(frame) + 1))
    return [as_r_file(**{name: frame})]


def as_digits(d):
    return [
        as_r_file(
            **{f"zip.{part}": np.column_stack([d[f"y_{part}"], d[f"X_{part}"]]).astype(float)}
        )
        for part in ("train", "test")
    ]


PUBLIC = {
    "colon": as_colon,
    "saheart": functools.partial(as_r_frame, name="SAheart", factor="famhist"),
    "hemophilia": functools.partial(as_r_frame, name="hemophilia", factor="gr"),
    "usps": as_digits,
    "golub": as_golub,
    "madelon": as_madelon,
    "letter": as_letter,
    "a9a": as_sparse,
    "cardio": as_archive,
    "shuttle": as_archive,
    "winequality": as_quoted_table,
}


def publish(name, data_folder, place):
    """Lay the files out below a folder as GitHub lays them out below its address."""
    entry = DATASETS[name]
    path = data_folder / entry.file
    stored = path.read_bytes() if path.suffix == ".csv" else dict(np.load(path))
    for file, raw in zip(entry.download.files, PUBLIC[name](stored), strict=True):
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_bytes(raw)


@pytest.mark.parametrize("name", PUBLIC)
def test_download_gives_what_the_folder_gives(name, data_folder, nowhere, tmp_path, monkeypatch):
    publish(name, data_folder, tmp_path)
    monkeypatch.setenv("MERCER_MIRROR", tmp_path.as_uri())
    downloaded = loader(name)()
    monkeypatch.setenv("MERCER_DATA", str(data_folder))
    stored = loader(name)()
    np.testing.assert_array_equal(downloaded.data, stored.data)
    np.testing.assert_array_equal(downloaded.target, stored.target)
    assert downloaded.feature_names == stored.feature_names
    # The second time it comes from the cache.
    monkeypatch.delenv("MERCER_DATA")
    monkeypatch.setenv("MERCER_MIRROR", (tmp_path / "gone").as_uri())
    np.testing.assert_array_equal(loader(name)(download_if_missing=False).data, stored.data)
    assert [path.suffix for path in nowhere.iterdir()] == [".npz"]


def test_every_download_checks_what_the_folder_holds(data_folder):
    from mercer.datasets._store import fetch

    for name, entry in DATASETS.items():
        assert content_checksum(fetch(name)) == entry.download.content


@contextlib.contextmanager
def served(folder):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *arguments: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_download_through_http(data_folder, nowhere, tmp_path, monkeypatch, capfd):
    publish("cardio", data_folder, tmp_path)
    with served(tmp_path) as address:
        monkeypatch.setenv("MERCER_MIRROR", address)
        assert datasets.load_cardio().data.shape == (1831, 21)
        with pytest.raises(OSError, match=r"'letter' could not be downloaded .*404.*MERCER_DATA"):
            datasets.load_letter()
    assert not (nowhere / "letter.npz").exists()


def test_a_wrong_or_broken_source_is_refused(data_folder, nowhere, tmp_path, monkeypatch):
    publish("cardio", data_folder, tmp_path)
    monkeypatch.setenv("MERCER_MIRROR", tmp_path.as_uri())
    (file,) = DATASETS["cardio"].download.files
    d = dict(np.load(data_folder / "anomaly" / "cardio.npz"))
    d["X"][0, 0] += 1e-9
    for raw in (*as_archive(d), b"no archive at all"):
        (tmp_path / file).write_bytes(raw)
        with pytest.raises(ValueError, match="is not the data set 'cardio'"):
            datasets.load_cardio()
        assert list(nowhere.iterdir()) == []


def test_a_file_with_objects_is_never_executed(data_folder, nowhere, tmp_path, monkeypatch):
    class Harmful:
        def __reduce__(self):
            return Path.touch, (tmp_path / "executed",)

    publish("cardio", data_folder, tmp_path)
    (file,) = DATASETS["cardio"].download.files
    X = np.empty(1, dtype=object)
    X[0] = Harmful()
    np.savez(tmp_path / file, X=X, y=X)
    monkeypatch.setenv("MERCER_MIRROR", tmp_path.as_uri())
    with pytest.raises(ValueError, match="is not the data set"):
        datasets.load_cardio()
    assert not (tmp_path / "executed").exists()


def test_a_damaged_cache_is_mended(data_folder, nowhere, tmp_path, monkeypatch):
    publish("cardio", data_folder, tmp_path)
    monkeypatch.setenv("MERCER_MIRROR", tmp_path.as_uri())
    expected = datasets.load_cardio().data
    kept = nowhere / "cardio.npz"
    kept.write_bytes(kept.read_bytes()[:5000])
    np.testing.assert_array_equal(datasets.load_cardio().data, expected)
    assert len(kept.read_bytes()) > 5000


def test_the_ida_benchmark_is_downloaded_once_for_all_sets(
    data_folder, nowhere, tmp_path, monkeypatch
):
    sets = {name: dict(np.load(data_folder / "ida" / f"{name}.npz")) for name in IDA_NAMES}
    (file,) = DATASETS["ida/banana"].download.files
    place = tmp_path / "public" / file
    place.parent.mkdir(parents=True)
    place.write_bytes(*as_structures(sets))
    with served(tmp_path / "public") as address:
        monkeypatch.setenv("MERCER_MIRROR", address)
        load_ida("titanic")
        place.unlink()
        for name, stored in sets.items():
            downloaded = load_ida(name)
            np.testing.assert_array_equal(downloaded.data, stored["X"])
            np.testing.assert_array_equal(downloaded.target, stored["y"])
            np.testing.assert_array_equal(
                [train for train, _ in downloaded.splits], stored["train"]
            )
            np.testing.assert_array_equal([test for _, test in downloaded.splits], stored["test"])
        # What was kept and has been damaged is no reason to give up, nor to believe it.
        (nowhere / "ida-heart.npz").unlink()
        (nowhere / "benchmarks.mat").write_bytes(b"damaged")
        with pytest.raises(OSError, match="'ida/heart' could not be downloaded"):
            load_ida("heart")


def test_files_of_r_need_a_package_that_is_named(data_folder, nowhere, tmp_path, monkeypatch):
    publish("hemophilia", data_folder, tmp_path)
    monkeypatch.setenv("MERCER_MIRROR", tmp_path.as_uri())
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(ImportError, match=r'pip install "mercer\[data\]"'):
        datasets.load_hemophilia()


def test_which_sets_cannot_be_had(data_folder, nowhere, tmp_path, monkeypatch):
    publish("cardio", data_folder, tmp_path)
    monkeypatch.setenv("MERCER_MIRROR", tmp_path.as_uri())
    missing = datasets.missing_datasets(["cardio", "colon"])
    assert list(missing) == ["colon"]
    assert "set MERCER_DATA to a folder that holds colon.npz" in missing["colon"]
    assert (nowhere / "cardio.npz").exists()


def test_no_download_where_none_is_wanted(nowhere, monkeypatch):
    monkeypatch.setenv("MERCER_MIRROR", "file:///nowhere")
    with pytest.raises(FileNotFoundError, match="download_if_missing is False"):
        datasets.load_letter(download_if_missing=False)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: load_ida("bananas"), "name must be one of banana, .*; got 'bananas'"),
        (lambda: load_ida("heart", split=100), "split must lie between 0 and 99; got 100"),
        (lambda: load_ida("heart", subset="train"), "needs a split"),
        (lambda: datasets.load_golub(subset="valid"), "one of all, train, test; got 'valid'"),
    ],
)
def test_bad_input_gets_a_sentence(call, words, data_folder):
    with pytest.raises(ValueError, match=words):
        call()


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match="load_colon knows no option 'subsets'"):
        datasets.load_colon(subsets="all")


def test_a_data_folder_that_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("MERCER_DATA", str(tmp_path / "missing"))
    with pytest.raises(FileNotFoundError, match="which is not a folder"):
        datasets.load_colon()
