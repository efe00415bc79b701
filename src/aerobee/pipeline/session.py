"""A Spark session with the settings that a Python source wants.

    workers of this Python      Spark would take whatever `python3` is
    unix sockets to workers     over TCP every task stalls for 40 ms
    UTC                         what is stored has no other zone

Measured; `docs/decisions/` has the figures. Whatever the caller sets goes before these.
"""

import os
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

DEFAULTS = {
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
}


def spark_session(
    name: str = "aerobee", *, master: str = "local[*]", settings: Mapping[str, str] | None = None
) -> Any:
    """The session of this process, made if there is none."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(name).master(master)
    for key, value in settings_of(master, settings or {}, os.environ).items():
        builder = builder.config(key, value)
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
