"""Names of devices, and what is said where there is none."""

import sys

import numpy as np
import pytest

from mercer.gram import make_gram
from mercer.gram.devices import AUTO_ROWS, check_device, device_for, nearest_device
from mercer.kernels import RBF, as_kernel

X = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:-1", "CPU", "", None, 0, "cuda:1x"])
def test_what_names_no_device_is_refused(device):
    with pytest.raises(ValueError, match=r"device must be .* got"):
        check_device(device)


def test_without_torch_one_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        ValueError, match=r"^device='cuda' cannot be used: it needs torch; pip inst"
    ):
        make_gram(RBF(1.0), X, device="cuda")
    assert device_for("auto", 10 * AUTO_ROWS) is None
    assert nearest_device("cuda", 10 * AUTO_ROWS) is None


def test_without_a_card_one_sentence_says_so(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(
        ValueError, match=r"^device='cuda:1' cannot be used: torch sees no GPU here"
    ):
        make_gram(RBF(1.0), X, device="cuda:1")
    assert device_for("auto", 10 * AUTO_ROWS) is None


def test_a_card_that_is_not_there_or_too_old_is_named(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 0))
    with pytest.raises(ValueError, match="torch sees 1 GPU here, counted from 0"):
        device_for("cuda:1", 5)
    with pytest.raises(ValueError, match="too old"):
        device_for("cuda", 5)
    assert device_for("auto", 10 * AUTO_ROWS) is None
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8, 6))
    assert device_for("auto", AUTO_ROWS) == torch.device("cuda")
    assert device_for("auto", AUTO_ROWS - 1) is None


def test_a_kernel_without_a_formula_is_refused_unless_auto(monkeypatch):
    monkeypatch.setattr("mercer.gram.pairwise.device_for", lambda device, n_rows: object())
    kernel = as_kernel(lambda A, B: A @ B.T)
    with pytest.raises(ValueError, match=r"^device='cuda' needs a kernel whose formula"):
        make_gram(kernel, X, device="cuda")
    assert make_gram(kernel, X, device="auto").n == 3
