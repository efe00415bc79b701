"""Rules that hold for every test: the right build, no thread left behind, repeatable random inputs.

EXPECT_COMPILED=1  stop unless every hot module runs as C (make test)
EXPECT_COMPILED=0  stop if any hot module runs as C (make test-pure)
HYPOTHESIS_PROFILE=commit  the default: the same examples on every run
HYPOTHESIS_PROFILE=night   fresh examples, many more of them
"""

import gc
import os
import signal
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from aerobee._compiled import HOT_MODULES, is_compiled, report

if TYPE_CHECKING:
    from tests.mariadb_kit import Database
from tests.run_report import pytest_terminal_summary
from tests.spark_kit import is_of_spark, spark

# One session for all tests that want it; a hook that pytest finds by its name.
__all__ = ["pytest_terminal_summary", "spark"]

# How fast a shared machine draws examples says nothing about the code under test.
_untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("commit", _untimed, derandomize=True, max_examples=100)
settings.register_profile("night", _untimed, max_examples=5_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "commit"))


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts a command with & deaf to Ctrl-C, and `make test` starts one half so. Tests send
    # that signal to themselves and to processes, which would inherit the deafness and never end.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    expected = os.environ.get("EXPECT_COMPILED")
    if expected is None:
        return
    wrong = [name for name in HOT_MODULES if is_compiled(name) != (expected == "1")]
    if wrong:
        raise pytest.UsageError(f"EXPECT_COMPILED={expected}, but {report()}: {', '.join(wrong)}")


@pytest.fixture(autouse=True, scope="module")
def small_heap() -> None:
    """Objects that are older than a module's tests are no longer looked at: a collection, for which
    some tests ask, would take a second in a process that has collected thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Database"]:
    """A MariaDB for all tests; each makes a schema of its own."""
    from tests.mariadb_kit import running_database

    with running_database(tmp_path_factory.mktemp("mariadb")) as database:
        yield database


@pytest.fixture(autouse=True)
def no_thread_left_behind() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [
        thread.name
        for thread in threading.enumerate()
        if thread not in before
        and not is_of_spark(thread)
        # Begun by the first event of a server that more than one test uses.
        and thread.name != "aerobee-audit"
    ]
    assert not left, f"threads still running after the test: {left}"
