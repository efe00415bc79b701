import sys

from aerobee.pipeline.session import DEFAULTS, settings_of


def test_workers_run_this_python_and_what_the_caller_says_goes_first() -> None:
    environment: dict[str, str] = {}
    settings = settings_of("local[2]", {"spark.sql.session.timeZone": "CET"}, environment)
    assert settings == {**DEFAULTS, "spark.sql.session.timeZone": "CET"}
    assert environment["PYSPARK_PYTHON"] == sys.executable
    assert environment["SPARK_LOCAL_IP"] == "127.0.0.1"


def test_what_the_environment_says_stays() -> None:
    environment = {"PYSPARK_PYTHON": "other"}
    settings_of("spark://host:7077", {}, environment)
    assert environment["PYSPARK_PYTHON"] == "other"
    assert "SPARK_LOCAL_IP" not in environment
