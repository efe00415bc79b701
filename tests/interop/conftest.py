"""Fixtures of the interop tests: Apache's jars, or a reason why there are none."""

import os

import pytest

from tests.interop import apache


@pytest.fixture(scope="session")
def jars() -> apache.Jars:
    """Apache RocketMQ, fetched and ready to run.

    Without Java or Maven the test is skipped; with REQUIRE_JAVA=1 (`make test-interop`) it fails.
    """
    reason = apache.missing()
    if reason is None:
        return apache.install()
    if os.environ.get("REQUIRE_JAVA") == "1":
        pytest.fail(f"the interop tests run Apache RocketMQ, but {reason}")
    pytest.skip(f"runs Apache RocketMQ, but {reason}")
