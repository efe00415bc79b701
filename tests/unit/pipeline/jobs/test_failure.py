from aerobee.errors import Misuse
from aerobee.pipeline.jobs.failure import JobFailed, explained

OURS = """[STREAM_FAILED] Query [id = 1] terminated with exception: [PYTHON_EXCEPTION] An \
exception was thrown from Python:
Traceback (most recent call last):
  File "/x/pyspark/worker.py", line 1, in main
    process()
aerobee.errors.DataLoss: orders@broker-a:0 was read up to 9, and is gone (was the topic made anew? \
failOnDataLoss=false goes on without) SQLSTATE: XXKST

JVM stacktrace:
org.apache.spark.sql.streaming.StreamingQueryException
\tat org.apache.spark.sql.execution.streaming.StreamExecution.run(StreamExecution.scala:1)
"""
PYTHONS = """An error occurred while calling o1.start:
Traceback (most recent call last):
  File "x.py", line 1, in <module>
ModuleNotFoundError: No module named 'aerobee'

\tat org.apache.spark.api.python.Reader.handle(Reader.scala)
"""
SPARKS = """[TABLE_OR_VIEW_NOT_FOUND] The table or view `x` cannot be found. SQLSTATE: 42P01;
'UnresolvedRelation [x]
\tat org.apache.spark.Something
"""


def test_an_error_of_ours_is_found_in_what_spark_made_of_it() -> None:
    error = explained(RuntimeError(OURS))
    assert error.message == "orders@broker-a:0 was read up to 9, and is gone"
    assert error.hint == "was the topic made anew? failOnDataLoss=false goes on without"
    assert isinstance(error, JobFailed)
    assert error.cause == "DataLoss"


def test_an_error_of_python_is_its_last_line_and_has_a_hint() -> None:
    error = explained(RuntimeError(PYTHONS))
    assert error.message == "ModuleNotFoundError: No module named 'aerobee'"
    assert "on the executors" in error.hint


def test_an_error_of_spark_is_its_first_sentence() -> None:
    error = explained(RuntimeError(SPARKS))
    assert error.message == "The table or view `x` cannot be found."
    assert error.hint == "--verbose shows everything"


def test_an_error_of_java_is_its_innermost_cause() -> None:
    text = (
        "An error occurred while calling o1.start.\n: java.lang.IllegalStateException: no context\n"
        "\tat org.apache.spark.A\nCaused by: java.io.IOException: the disk is full\n\t... 9 more\n"
    )
    assert explained(RuntimeError(text)).message == "the disk is full"


def test_what_only_the_log_says_is_a_hint() -> None:
    text = "An error occurred while calling None.X.\n: java.lang.NullPointerException\n\tat a.B\n"
    log = "ERROR StandaloneSchedulerBackend: All masters are unresponsive! Giving up.\n"
    error = explained(RuntimeError(text), log)
    assert error.message == "NullPointerException"
    assert error.hint.startswith("is the master there?")


def test_an_error_that_says_nothing_has_at_least_a_name() -> None:
    assert explained(RuntimeError()).message == "RuntimeError"


def test_an_error_of_ours_that_nobody_wrapped_is_itself() -> None:
    error = Misuse("no", hint="yes")
    assert explained(error) is error
