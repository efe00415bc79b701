"""Fixtures of the interop tests: Apache's jars, or a reason why there are none."""

import os

import pytest

from tests.interop import apache


@pytest.fixture(scope="session")
def jars() -> apache.Jars:
    """Apache RocketMQ, fetched and ready to run.

    Without Java or Maven the test is skipped; with REQUIRE_JAVA=1 (`make test-interop`) it fails.
    """
    _need_java()
    return apache.install()


@pytest.fixture(scope="session")
def jars_4_9() -> apache.Jars:
    """The same of RocketMQ 4.9."""
    _need_java()
    return apache.install_4_9()


def _need_java() -> None:
    reason = apache.missing()
    if reason is None:
        return
    if os.environ.get("REQUIRE_JAVA") == "1":
        pytest.fail(f"the interop tests run Apache RocketMQ, but {reason}")
    pytest.skip(f"runs Apache RocketMQ, but {reason}")
