import subprocess
import sys

from aerobee._cython_compat import UNCOMPILED


def test_the_stand_in_says_that_nothing_is_compiled() -> None:
    assert UNCOMPILED.compiled is False


def test_a_block_without_the_gil_runs_as_an_ordinary_block_and_more_than_once() -> None:
    entered = 0
    for _ in range(2):
        with UNCOMPILED.nogil:
            entered += 1
    assert entered == 2


def test_the_package_runs_where_cython_is_not_installed() -> None:
    """The product needs Cython to be built, never to run."""
    program = (
        "import importlib, sys\n"
        "sys.modules['cython'] = sys.modules['Cython'] = None\n"
        "from aerobee._compiled import HOT_MODULES\n"
        "for name in HOT_MODULES: importlib.import_module(name)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
