"""A kernel compiled at run time by the NVRTC that torch brings, and kept on disk."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mercer._files import written_whole

SUCCESS = 0


class CompilationError(RuntimeError):
    """A kernel could not be compiled or loaded; plain products of torch do its work."""


class CompiledKernel:
    """A kernel of a source text, compiled for one card.

    Parameters
    ----------
    source : str
        CUDA C++ that includes nothing.
    name : str
        The function, declared ``extern "C"``.
    device : torch.device
    **macros
        What the source wants defined.
    """

    def __init__(self, source: str, name: str, device: Any, **macros: int) -> None:
        import torch

        self.device = device
        major, minor = torch.cuda.get_device_capability(device)
        text = "".join(f"#define {key} {int(value)}\n" for key, value in macros.items()) + source
        architecture = f"sm_{major}{minor}"
        kept = _kept_file(text, architecture, torch.version.cuda)
        with torch.cuda.device(device):
            torch.cuda.current_stream().synchronize()  # the context must be there
            try:
                self._module, self._function = _loaded(kept.read_bytes(), name)
            except (OSError, CompilationError):  # not there, or damaged
                image = _compile(text, architecture)
                self._module, self._function = _loaded(image, name)
                _keep(kept, image)

    def launch(self, grid: tuple[int, int], threads: int, arguments: Sequence[Any]) -> None:
        """Start the kernel on torch's stream; tensors go as pointers, whole numbers as ints."""
        import torch

        count = len(arguments)
        values = (ctypes.c_uint64 * count)(  # an int is the lower half of such a number
            *(one if isinstance(one, int) else one.data_ptr() for one in arguments)
        )
        first = ctypes.addressof(values)
        pointers = (ctypes.c_void_p * count)(*range(first, first + 8 * count, 8))
        stream = ctypes.c_void_p(torch.cuda.current_stream(self.device).cuda_stream)
        code = _driver().cuLaunchKernel(
            self._function, *grid, 1, threads, 1, 1, 0, stream, pointers, None
        )
        if code != SUCCESS:
            raise RuntimeError(f"The GPU refused a kernel (error {code} of its driver).")


def compiled_kernel(source: Path, device: Any, **macros: int) -> CompiledKernel | None:
    """Return the kernel of a file, which has its name, or None where it cannot be compiled."""
    key = (source, str(device), tuple(macros.items()))
    if key not in _COMPILED:
        try:
            _COMPILED[key] = CompiledKernel(source.read_text(), source.stem, device, **macros)
        except CompilationError:
            _COMPILED[key] = None
    return _COMPILED[key]


_COMPILED: dict[Any, CompiledKernel | None] = {}


def cache_folder() -> Path:
    """Return where compiled kernels are kept: in ``MERCER_CACHE``, or in the user's cache."""
    folder = os.environ.get("MERCER_CACHE")
    return (Path(folder) if folder else Path.home() / ".cache" / "mercer") / "kernels"


def _kept_file(text: str, architecture: str, version: str | None) -> Path:
    key = hashlib.sha256(f"{architecture} {version}\n{text}".encode()).hexdigest()
    return cache_folder() / f"{key}.cubin"


def _keep(kept: Path, image: bytes) -> None:
    """Write machine code to disk; a home that cannot be written to costs a second a process."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(kept) as file:
            file.write(image)
    except OSError:
        pass


def _compile(source: str, architecture: str) -> bytes:
    nvrtc = _nvrtc()
    program = ctypes.c_void_p()
    _check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"", 0, None, None))
    options = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17"]
    code = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * 2)(*options))
    try:
        if code != SUCCESS:
            raise CompilationError(_log(nvrtc, program))
        size = ctypes.c_size_t()
        _check(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)))
        image = ctypes.create_string_buffer(size.value)
        _check(nvrtc.nvrtcGetCUBIN(program, image))
        return image.raw
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _log(nvrtc: Any, program: Any) -> str:
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    return log.value.decode(errors="replace")


def _loaded(image: bytes, name: str) -> tuple[Any, Any]:
    """Load machine code into the current context."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    _check(_driver().cuModuleLoadData(ctypes.byref(module), image))
    _check(_driver().cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
    return module, function


def _check(code: int) -> None:
    if code != SUCCESS:
        raise CompilationError(f"error {code}")


@cache
def _nvrtc() -> Any:
    import torch

    major = (torch.version.cuda or "").split(".")[0]
    packages = Path(torch.__file__).parent.parent / "nvidia"
    names = [f"libnvrtc.so.{major}", "libnvrtc.so", f"nvrtc64_{major}0_0.dll"]
    found = [
        *sorted(packages.glob("*/lib/libnvrtc.so*")),
        *sorted(packages.glob("*/bin/**/nvrtc64_*.dll")),
        *sorted((Path(torch.__file__).parent / "lib").glob("*nvrtc*")),
    ]
    wanted = [one for one in found if "builtins" not in one.name and "caffe" not in one.name]
    return _first_library([*map(str, wanted), *names])


@cache
def _driver() -> Any:
    return _first_library(["libcuda.so.1", "nvcuda.dll"])


def _first_library(names: Sequence[str]) -> Any:
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise CompilationError(f"none of {', '.join(names)} could be loaded")
