"""Creates a Spark session with the settings that a Python source needs.

    workers of this Python      Spark's default is the `python3` on the PATH
    unix sockets to workers     over TCP every task stalls for 40 ms
    UTC                         timestamps are stored without a zone
    a Java that is new enough   the machine's, else a packaged one
    compiled Python modules     a local Spark starts its Pythons in a third of the time

Measured; `docs/decisions/` has the figures. Settings of the caller take precedence.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from aerobee.errors import AerobeeError
from aerobee.pipeline.spark.java import java_home
from aerobee.pipeline.spark.spark_home import quick_home

DEFAULTS = {
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
}
# Set where a JVM has started this process: spark-submit.
_GATEWAY = "PYSPARK_GATEWAY_PORT"


class NoSpark(AerobeeError):
    """PySpark is not installed in this environment."""


def spark_session(
    name: str = "aerobee",
    *,
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> Any:
    """Return the session of this process, made if there is none. Spark's log goes to the file
    `log`, if one is given, else to stderr."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise NoSpark(
            "pyspark is not installed", hint="pip install 'aerobee[spark]' brings it"
        ) from None
    builder = SparkSession.builder.appName(name)
    if _GATEWAY not in os.environ:
        builder = builder.master(master)
    prepare_java(os.environ)
    for key, value in settings_of(master, settings or {}, os.environ).items():
        builder = builder.config(key, value)
    is_told_python = any(key.startswith("spark.pyspark.") for key in settings or {})
    is_local = master.startswith("local") and not is_told_python
    with _stderr_into(log), _home(is_local, os.environ):
        return builder.getOrCreate()


def settings_of(
    master: str, given: Mapping[str, str], environment: MutableMapping[str, str]
) -> dict[str, str]:
    """Return the settings of a session; those that must be environment variables are set there."""
    environment.setdefault("PYSPARK_PYTHON", sys.executable)
    environment.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if master.startswith("local"):
        environment.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return {**DEFAULTS, **given}


def prepare_java(environment: MutableMapping[str, str]) -> None:
    """Set JAVA_HOME to a Java that Spark can start."""
    if _GATEWAY not in environment:
        environment["JAVA_HOME"] = str(java_home(environment))


@contextlib.contextmanager
def _home(is_local: bool, environment: MutableMapping[str, str]) -> Iterator[None]:
    """Set SPARK_HOME, for a JVM started in this block, to one whose Pythons start quickly, if all
    of Spark runs on this machine. Other Sparks that are started later are not affected."""
    home = None
    if is_local and _GATEWAY not in environment:
        home = quick_home(environment)
    if home is None:
        yield
        return
    environment["SPARK_HOME"] = str(home)
    try:
        yield
    finally:
        del environment["SPARK_HOME"]


@contextlib.contextmanager
def _stderr_into(log: Path | None) -> Iterator[None]:
    """Redirect the stderr of a JVM started in this block to a file: it inherits the descriptor."""
    if log is None:
        yield
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with log.open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
