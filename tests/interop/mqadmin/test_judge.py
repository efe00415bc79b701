"""The judge of mqadmin's commands: what counts as working, and what does not."""

import pytest

from tests.interop.mqadmin.admin import Printed
from tests.interop.mqadmin.cases import CASES, Case, Kind
from tests.interop.mqadmin.judge import Outcome, Verdict, judge, together

TRIED = [case for case in CASES if isinstance(case, Case)]
TRACE = """org.apache.rocketmq.tools.command.SubCommandException: TopicSubCommand command failed
\tat org.apache.rocketmq.tools.command.topic.TopicSubCommand.execute(TopicSubCommand.java:1)
Caused by: org.apache.rocketmq.client.exception.MQClientException: CODE: 1  DESC: nothing
"""


def said(text: str, *, ended: bool = True) -> Printed:
    return Printed(text, ended)


def test_a_command_works_if_everything_is_there_that_it_is_to_show() -> None:
    case = Case("topicList", ("^Orders$", "^Bills$"))
    assert judge(case, said("a\nBills\nOrders\n")).outcome is Outcome.WORKS
    assert judge(case, said("a\nBills\nOrdersOfMine\n")).outcome is Outcome.FAILS


def test_a_stack_trace_is_a_failure_whatever_else_is_there() -> None:
    assert judge(Case("topicList", ("Orders",)), said(f"Orders\n{TRACE}")).outcome is Outcome.FAILS


def test_a_command_that_does_not_end_has_failed_unless_it_never_does() -> None:
    assert judge(Case("topicList", ()), said("", ended=False)).outcome is Outcome.FAILS
    endless = Case("startMonitoring", (), is_endless=True)
    assert judge(endless, said("", ended=False)).outcome is Outcome.WORKS


def test_a_refusal_counts_with_its_reason_only() -> None:
    case = Case("createUser", ("success",), kind=Kind.REFUSES, reason="no users")
    refused = judge(case, said(f"{TRACE}CODE: 3 DESC: there are no users here"))
    assert refused == Verdict(Outcome.REFUSES, "no users")
    assert judge(case, said(TRACE)).outcome is Outcome.FAILS
    assert judge(case.at_apache(), said(f"{TRACE}no users")).outcome is Outcome.FAILS


def test_of_several_ways_the_worst_counts() -> None:
    works, refuses, fails = (Verdict(outcome, outcome.value) for outcome in Outcome)
    assert together([works, works]).outcome is Outcome.WORKS
    assert together([works, refuses]) == refuses
    assert together([refuses, fails, works]) == fails


@pytest.mark.parametrize("case", TRIED, ids=[case.command for case in TRIED])
def test_no_case_is_content_with_silence_or_with_a_failure(case: Case) -> None:
    if not case.is_endless:
        assert judge(case, said("")).outcome is Outcome.FAILS
    if not case.may_say_error:
        assert judge(case, said(TRACE)).outcome is Outcome.FAILS
