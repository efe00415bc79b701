"""A home for Spark without its zipped Python, so that workers take the installed one.

Spark puts `python/lib/pyspark.zip` of its home before everything else that its Python processes
import. A zip has no compiled modules: each process compiles PySpark anew, for half a second and
more, and every streaming query starts one. Where PySpark is a package of this Python, the same
modules are there, compiled. So Spark gets a home in a cache folder: links to all its files, except
that zip.
"""

import os
import site
import sys
import sysconfig
from collections.abc import Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from aerobee.pipeline.spark.cache_folder import cache_folder
from aerobee.pipeline.spark.java import caches

_ZIPPED = "python"


def quick_home(environment: Mapping[str, str]) -> Path | None:
    """Return the home for this Python's own Spark; None where another Spark or Python is
    configured, or where none can be made."""
    if "SPARK_HOME" in environment or environment.get("PYSPARK_PYTHON") != sys.executable:
        return None
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        return None
    if not is_everywhere(Path(found.origin).parent.parent, environment):
        return None
    try:
        return home_without_zip(Path(found.origin).parent, caches(environment))
    except OSError:
        return None  # nowhere to write: it starts as it always did


def is_everywhere(folder: Path, environment: Mapping[str, str]) -> bool:
    """Whether every process of this Python imports from a folder, not only this process."""
    paths = sysconfig.get_paths()
    told = environment.get("PYTHONPATH", "").split(os.pathsep)
    known = [paths["purelib"], paths["platlib"], site.getusersitepackages(), *filter(None, told)]
    return folder.resolve() in {Path(one).resolve() for one in known}


def home_without_zip(installed: Path, folder: Path) -> Path | None:
    """Return a home for an installed PySpark in a cache folder; made once. None: that PySpark has
    no Spark inside."""
    if not (installed / "bin" / "spark-submit").exists() or not (installed / "jars").is_dir():
        return None
    parts = sorted(part for part in os.listdir(installed) if part != _ZIPPED)
    named = "\n".join([str(installed), *parts])

    def fill(home: Path) -> None:
        for part in parts:
            (home / part).symlink_to(installed / part)

    return cache_folder(folder / f"spark-{sha256(named.encode()).hexdigest()[:12]}", fill)
