"""How kernels are compiled: the one place that decides.

- Nothing compiles on import: a kernel compiles for the types of its first call.
- An operator is a type (`algebra/operators.py`), so a kernel is written once and compiles for each operator that it
  meets, with `combine` inlined: `meaning` is how a function of operators gets its body at compile time.
- What has been compiled is kept on disk, beside the source, or in the user's cache folder where that is read-only: a
  Spark executor is many short-lived Python processes, and each would compile anew, 0.2 to 1 s a kernel and operator.
  Numba's own cache keeps the kernels of a function in numbered files with an index beside them, and two processes that
  compile at the same time can give two kernels one number: max answers for min from then on. Here every kernel has a
  file of its own, named after what it was compiled from, and says so inside (`docs/decisions/0031-kernel-cache.md`).
- A kernel's inner loops are in the kernel: a call of another one counts references to every array that it is given,
  which made DABA fifteen times slower.
- No `fastmath`: it assumes that NaN and infinity do not occur and that sums may be reordered. Neither holds here.
- No `parallel`: Spark already runs one worker per core.
- `error_model="numpy"`: a division by zero gives NaN, as the callers expect, instead of raising out of a kernel.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CodeType
from typing import Any

import numba
from numba.core import caching, types
from numba.extending import overload


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function over arrays and numbers when it is first called."""
    compiled: Callable[..., Any] = numba.njit(nogil=True, error_model="numpy")(function)
    if hasattr(compiled, "_cache"):  # not where the compiler is switched off
        compiled._cache = _Kept(function)
    return compiled


def meaning(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], None]:
    """What a kernel runs where it calls `function`: chosen when it compiles, from the types of the arguments.

    The chooser takes the same arguments as the function, as Numba's types, and returns a Python function that takes
    them as values, or None where it does not know them.
    """

    def chosen(chooser: Callable[..., Any]) -> None:
        _choosers.append(_digest(chooser.__code__))
        overload(function, jit_options={"error_model": "numpy"})(chooser)

    return chosen


_choosers: list[str] = []
"""What functions of operators may mean, by the code of their choosers."""


def _digest(code: CodeType) -> str:
    """The code of a function and of all functions in it, less where it stands."""
    parts = [_digest(part) if isinstance(part, CodeType) else repr(part) for part in code.co_consts]
    said = repr((code.co_code, code.co_names, code.co_varnames, parts))
    return hashlib.sha256(said.encode()).hexdigest()


class _Files(caching.IndexDataCacheFile):
    """The compiled forms of one function, a file each."""

    def save(self, key: object, data: object) -> None:
        """Write one, and drop those that an older source has left."""
        path = self._path(key)
        for old in path.parent.glob(f"{self._base}-*.nbc"):
            if not old.name.startswith(path.name[: len(self._base) + 9]):
                old.unlink(missing_ok=True)
        with self._open_for_write(str(path)) as file:
            file.write(self._dump((key, data)))

    def load(self, key: object) -> Any:
        """Read one, or None."""
        try:
            found, data = pickle.loads(self._path(key).read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, ValueError, IndexError):
            return None  # torn, or of an operator that nobody here has
        return data if found == key else None

    def flush(self) -> None:
        """Forget all of them."""
        for path in Path(self._cache_path).glob(f"{self._base}-*.nbc"):
            path.unlink(missing_ok=True)

    @property
    def _base(self) -> str:
        return str(self._index_name).removesuffix(".nbi")

    def _path(self, key: object) -> Path:
        source, compiled = (hashlib.sha256(repr(part).encode()).hexdigest() for part in (self._stamp, key))
        return Path(self._cache_path) / f"{self._base}-{source[:8]}-{compiled[:24]}.nbc"

    @property
    def _stamp(self) -> object:
        return self._version, self._source_stamp


class _Kept(caching.FunctionCache):
    """Numba's cache of a function over `_Files`; a kernel is another one when what it calls or an operator changes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._function = function
        files = self._cache_file
        self._cache_file = _Files(files._cache_path, files._index_name.removesuffix(".nbi"), files._source_stamp)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        meanings = _meanings(getattr(sig, "args", sig))
        return (*super()._index_key(sig, codegen), tuple(_choosers), *_taken_in(self._function), *meanings)


def _taken_in(function: Callable[..., Any]) -> Iterable[str]:
    """What a kernel has of other files: the code of the kernels that it calls, and numbers."""
    seen, waiting = {function}, [function]
    while waiting:
        names = waiting.pop()
        for name in sorted(set(names.__code__.co_names)):
            value = names.__globals__.get(name)
            called = getattr(value, "py_func", None)
            if isinstance(value, int | float):
                yield f"{name} {value}"
            elif called is not None and called not in seen:
                seen.add(called)
                waiting.append(called)
                yield f"{name} {_digest(called.__code__)}"


def _meanings(arguments: Iterable[Any]) -> Iterable[str]:
    """The code of the operators among the arguments' types."""
    for argument in arguments:
        if isinstance(argument, (types.NamedTuple, types.NamedUniTuple)):
            for name, function in sorted(vars(argument.instance_class).items()):
                if isinstance(function, staticmethod):
                    yield f"{name} {_digest(function.__func__.__code__)}"
            yield from _meanings(argument.types)
