import shlex

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.spark_submit import main, pairs, submit_line


def test_words_are_names_and_values() -> None:
    assert pairs(["topic=orders", "schema=id int, a=b"]) == {
        "topic": "orders",
        "schema": "id int, a=b",
    }
    for wrong in ("topic", "=x"):
        with pytest.raises(Misuse, match="is not name=value"):
            pairs([wrong])


def test_the_line_for_a_cluster_says_what_was_chosen_and_quotes_it() -> None:
    given = {"topic": "orders", "schema": "id int", "spark.executor.memory": "2g"}
    line = submit_line("upsert", given, "spark://host:7077", program="spark_submit.py")
    assert shlex.split(line) == [
        *("spark-submit", "--master", "spark://host:7077", "--name", "aerobee upsert"),
        *("--conf", "spark.executor.memory=2g"),
        *("spark_submit.py", "upsert", "topic=orders", "schema=id int"),
    ]


def test_what_is_wrong_is_said_before_spark_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 1
    assert main(["statistcs"]) == 1
    assert main(["lake", "topic=orders", "name-server=x"]) == 1
    said = capsys.readouterr().err
    assert "no job is named" in said
    assert "was statistics meant?" in said
    assert "to-folder is needed" in said
