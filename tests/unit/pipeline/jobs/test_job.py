import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.job import Chosen, Job, JobOption, JobOutcome, chosen_of, interval_of

JOB = Job(
    "count",
    "counts",
    "Counts.",
    (
        JobOption("topic", "what is read", is_needed=True),
        JobOption("window", "how long", "1m"),
        JobOption("emit", "when", "updates", choices=("updates", "final")),
        JobOption("once", "whether", "no", is_flag=True),
    ),
    lambda spark, chosen: JobOutcome(),
)


def test_what_is_not_said_is_what_was_declared() -> None:
    chosen = chosen_of(JOB, {"topic": "t"})
    assert chosen.values == {"topic": "t", "window": "1m", "emit": "updates", "once": "no"}
    assert not chosen.is_on("once")
    assert chosen.interval("window") == "1 minutes"


def test_what_begins_with_source_sink_or_spark_is_passed_on() -> None:
    given = {"topic": "t", "source.group": "g", "sink.topic": "x", "spark.ui.enabled": "true"}
    chosen = chosen_of(JOB, given)
    assert (chosen.source, chosen.sink) == ({"group": "g"}, {"topic": "x"})
    assert chosen.spark == {"spark.ui.enabled": "true"}


def test_every_mistake_is_told_at_once() -> None:
    with pytest.raises(Misuse) as told:
        chosen_of(JOB, {"windw": "1s", "emit": "never", "once": "perhaps"})
    assert told.value.message == (
        "count has no option windw; was window meant?; "
        "emit is one of updates, final, not 'never'; once is one of yes, no, not 'perhaps'; "
        "topic is needed: what is read"
    )
    assert told.value.hint == "aerobee pipeline describe count lists all"


def test_names_are_divided_by_commas() -> None:
    assert Chosen({"by": " city, tags ,"}).names("by") == ("city", "tags")
    assert Chosen({"by": ""}).names("by") == ()


@pytest.mark.parametrize(
    ("text", "said"), [("500ms", "500 milliseconds"), ("7 d", "7 days"), ("", "")]
)
def test_a_time_is_said_as_spark_says_it(text: str, said: str) -> None:
    assert interval_of("window", text) == said


def test_a_time_without_a_unit_is_refused() -> None:
    with pytest.raises(Misuse, match="window is a time like 500ms"):
        interval_of("window", "10")


def test_a_time_that_is_none_and_what_a_job_checks_are_told_with_the_options() -> None:
    def check(chosen: Chosen) -> None:
        if chosen.text("topic") == "mine":
            raise Misuse("not that one")

    job = Job(
        "timed",
        "",
        "",
        (JobOption("topic", "what"), JobOption("every", "how often", "1s", is_interval=True)),
        lambda spark, chosen: JobOutcome(),
        check=check,
    )
    assert chosen_of(job, {"every": ""}).interval("every") == ""
    with pytest.raises(Misuse, match="every is a time like 500ms"):
        chosen_of(job, {"every": "often"})
    with pytest.raises(Misuse, match="not that one"):
        chosen_of(job, {"topic": "mine"})
