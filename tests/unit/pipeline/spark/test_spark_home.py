import sys
from pathlib import Path

from aerobee.pipeline.spark.spark_home import home_without_zip, is_everywhere, quick_home


def installed(folder: Path) -> Path:
    package = folder / "site-packages" / "pyspark"
    for part in ("bin", "jars", "python/lib"):
        (package / part).mkdir(parents=True)
    (package / "bin" / "spark-submit").touch()
    (package / "jars" / "spark-core.jar").touch()
    (package / "python" / "lib" / "pyspark.zip").touch()
    return package


def test_a_home_has_all_of_spark_but_its_zipped_python(tmp_path: Path) -> None:
    home = home_without_zip(installed(tmp_path), tmp_path / "caches")
    assert home is not None
    assert (home / "bin" / "spark-submit").exists()
    assert (home / "jars" / "spark-core.jar").exists()
    assert not (home / "python").exists()


def test_a_home_is_made_once_and_another_one_for_another_spark(tmp_path: Path) -> None:
    package = installed(tmp_path)
    first = home_without_zip(package, tmp_path / "caches")
    assert home_without_zip(package, tmp_path / "caches") == first
    (package / "data").mkdir()  # another version, in the same place
    second = home_without_zip(package, tmp_path / "caches")
    assert second is not None
    assert second != first
    assert (second / "data").is_dir()
    assert len(list((tmp_path / "caches").iterdir())) == 2


def test_a_pyspark_that_only_connects_has_no_home(tmp_path: Path) -> None:
    package = installed(tmp_path)
    (package / "bin" / "spark-submit").unlink()
    assert home_without_zip(package, tmp_path / "caches") is None


def test_a_spark_of_this_python_has_one(tmp_path: Path) -> None:
    told = {"PYSPARK_PYTHON": sys.executable, "XDG_CACHE_HOME": str(tmp_path)}
    home = quick_home(told)
    assert home is not None
    assert home.is_relative_to(tmp_path)
    assert (home / "jars").is_dir()


def test_whoever_says_where_spark_is_or_which_python_is_believed(tmp_path: Path) -> None:
    told = {"PYSPARK_PYTHON": sys.executable, "XDG_CACHE_HOME": str(tmp_path)}
    assert quick_home({**told, "SPARK_HOME": str(tmp_path / "spark")}) is None
    assert quick_home({**told, "PYSPARK_PYTHON": "another"}) is None
    assert list(tmp_path.iterdir()) == []


def test_workers_find_a_spark_that_is_installed_or_on_the_path(tmp_path: Path) -> None:
    assert not is_everywhere(tmp_path, {})
    assert is_everywhere(tmp_path, {"PYTHONPATH": f"elsewhere:{tmp_path}"})


def test_where_nothing_can_be_written_spark_starts_as_it_always_did(tmp_path: Path) -> None:
    (tmp_path / "aerobee").write_text("a file where the folder would be")
    told = {"PYSPARK_PYTHON": sys.executable, "XDG_CACHE_HOME": str(tmp_path)}
    assert quick_home(told) is None
