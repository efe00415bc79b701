# What hot modules use of `cython`, for the type checker. At run time the name is the compiler's
# own, or aerobee._cython_compat.

from contextlib import AbstractContextManager

compiled: bool
nogil: AbstractContextManager[None]
