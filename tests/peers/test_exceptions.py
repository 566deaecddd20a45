"""The list of exceptions is true: it names tests and reasons that exist, and the docs show it."""

import importlib
import re
from collections import Counter

import pytest
import sklearn
from exceptions import PAGE, Exceptions, page_with
from sklearn.svm import SVC as THEIRS
from substitution import meets_ours, names_with

from mercer import SVC

EXCEPTIONS = Exceptions.read()


def test_docs_show_the_list():
    assert PAGE.read_text(encoding="utf-8") == page_with(EXCEPTIONS)


def test_each_reason_is_used_and_known():
    used = Counter(name for tests in EXCEPTIONS.tests.values() for name in tests.values())
    assert used.keys() == EXCEPTIONS.reasons.keys()


@pytest.mark.skipif(
    not sklearn.__version__.startswith(f"{EXCEPTIONS.scikit_learn}."), reason="another list"
)
def test_each_name_is_a_test():
    for module, tests in EXCEPTIONS.tests.items():
        known = vars(importlib.import_module(module))
        assert [name for name in tests if name.split("[")[0] not in known] == []


def test_a_name_without_parameters_means_all_of_them():
    module = "sklearn.svm.tests.test_svm"
    listed = Exceptions("1.0", {"r": "why"}, {module: {"test_a": "r", "test_b[1]": "r"}})
    assert listed.reason_of(module, "test_a[x-y]") == "why"
    assert listed.reason_of(module, "test_b[1]") == "why"
    assert listed.reason_of(module, "test_b[2]") is None
    assert listed.reason_of("sklearn.svm.tests.test_sparse", "test_a") is None


def test_substitutes_reach_the_copy_alone():
    changed = names_with({"sklearn.svm": {"SVC": SVC}}, "sklearn.svm.tests.test_svm")
    assert changed["svm"].SVC is SVC
    assert importlib.import_module("sklearn.svm").SVC is THEIRS
    assert importlib.import_module("sklearn.svm.tests.test_svm").svm.SVC is THEIRS
    assert meets_ours(changed["test_libsvm_parameters"], ())
    assert not meets_ours(changed["test_linearsvc"], ())
    assert meets_ours(changed["test_linearsvc"], (SVC,))
    assert re.match("peer_", changed["test_libsvm_parameters"].__module__)
