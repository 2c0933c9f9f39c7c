"""Compiles functions with numba: their code is kept on disk, found by the next process, missed after an edit."""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import numba

inner: Callable[[Callable], Any] = numba.njit(nogil=True)
"""Compiles a function that kernels call; it becomes part of their code and is not kept by itself."""


def identity(parts: Iterable[bytes]) -> str:
    """A hash of all that compiled code depends on: source files, and the parameters frozen into it."""
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:24]


def kernel(function: Callable, identity: str) -> Any:
    """The function compiled, from numba's cache folder where a process left it. Runs without Python's lock.

    numba would look a function up by its own code and, for a closure, by a pickle of the compiled functions that it
    calls: it overlooks edits of what is called, and the pickle differs in every process (numba issue 6264). The
    identity says the same and stays. It is in the file's name, too: processes that compile different games at once
    would else number their files alike and take each other's.
    """
    function.__qualname__ = f"{function.__name__}_{identity}"
    try:
        compiled: Any = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # there is no folder to write to
        return inner(function)
    if hasattr(compiled._cache, "_index_key"):  # private; without it nothing breaks, each process compiles anew
        compiled._cache._index_key = lambda signature, codegen: (signature, codegen.magic_tuple(), identity)
    return compiled
