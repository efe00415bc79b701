import pytest

from aerobee.client.core.consume.start_rule import Ask, Start, StartRule, question
from aerobee.model.subscription import ConsumeFrom


@pytest.mark.parametrize(
    ("start", "of_topic", "of_retry_topic", "said"),
    [
        (Start.EARLIEST, Ask.NOTHING, Ask.NOTHING, ConsumeFrom.FIRST_OFFSET),
        (Start.LATEST, Ask.END, Ask.NOTHING, ConsumeFrom.LAST_OFFSET),
        (Start.MOMENT, Ask.MOMENT, Ask.END, ConsumeFrom.TIMESTAMP),
    ],
)
def test_a_new_group_begins_where_java_would(
    start: Start, of_topic: Ask, of_retry_topic: Ask, said: ConsumeFrom
) -> None:
    rule = StartRule(start)
    assert question(rule, "T") is of_topic
    assert question(rule, "%RETRY%g") is of_retry_topic
    assert rule.consume_from is said
