"""The stand-in for the name `cython` when nothing is compiled.

A hot module begins with

    if TYPE_CHECKING:
        import cython
    else:
        from aerobee._cython_compat import UNCOMPILED as cython

The compiler knows the name without any import; the interpreter gets this stand-in, so that
Cython need not be installed to run.
"""

from contextlib import nullcontext


class _Uncompiled:
    compiled = False
    nogil = nullcontext()


UNCOMPILED = _Uncompiled()
