"""A Spark session with the settings that a Python source wants.

    workers of this Python      Spark would take whatever `python3` is
    unix sockets to workers     over TCP every task stalls for 40 ms
    UTC                         what is stored has no other zone
    a Java that is new enough   the machine's, else a packaged one
    compiled Python modules     a local Spark starts its Pythons in a third of the time

Measured; `docs/decisions/` has the figures. Whatever the caller sets goes before these.
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
    """There is no Spark in this environment."""


def spark_session(
    name: str = "aerobee",
    *,
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> Any:
    """The session of this process, made if there is none. What Spark says goes to the file `log`,
    if one is given, else to stderr."""
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
    """The settings of a session; what only the environment can say is put there."""
    environment.setdefault("PYSPARK_PYTHON", sys.executable)
    environment.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if master.startswith("local"):
        environment.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return {**DEFAULTS, **given}


def prepare_java(environment: MutableMapping[str, str]) -> None:
    """Have the JVM that Spark is about to start be one that works."""
    if _GATEWAY not in environment:
        environment["JAVA_HOME"] = str(java_home(environment))


@contextlib.contextmanager
def _home(is_local: bool, environment: MutableMapping[str, str]) -> Iterator[None]:
    """A JVM started in here has a home that is quick to start Pythons from, if all of Spark is on
    this machine. Only that JVM: another Spark that is started later is none of ours."""
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
    """A JVM started in here writes its stderr to a file: it inherits the descriptor."""
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
