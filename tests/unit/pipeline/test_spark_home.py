from pathlib import Path

from aerobee.pipeline.spark_home import home_without_zip, quick_home


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


def test_whoever_says_where_spark_is_is_believed(tmp_path: Path) -> None:
    told = {"SPARK_HOME": str(tmp_path / "spark"), "XDG_CACHE_HOME": str(tmp_path)}
    assert quick_home(told) is None
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_spark_starts_as_it_always_did(tmp_path: Path) -> None:
    (tmp_path / "aerobee").write_text("a file where the folder would be")
    assert quick_home({"XDG_CACHE_HOME": str(tmp_path)}) is None
