"""How kernels are compiled: the one place that decides.

- Nothing compiles on import: a kernel compiles for the types of its first call.
- `cache=True`: a Spark executor is many short-lived Python processes, and each would compile anew (0.3 to 2 s a
  kernel). Numba writes a cache file beside the source, or in the user's cache folder where that is read-only, and
  replaces it atomically.
- No `fastmath`: it assumes that NaN and infinity do not occur and that sums may be reordered. Neither holds here.
- No `parallel`: Spark already runs one worker per core.
- `error_model="numpy"`: a division by zero gives NaN, as the callers expect, instead of raising out of a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function over arrays and numbers when it is first called."""
    compiled: Callable[..., Any] = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled
