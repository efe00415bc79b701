from aerobee.console.watch.metric_page import samples_in

PAGE = r"""# HELP rows Rows
# TYPE rows counter
rows{query="a \"b\" \\ {c}",topic="t,u"} 12
plain 0.5 1700000000
broken{
nothing{} NaN
words{a="b"} many
"""


def test_samples_have_their_labels_and_what_is_none_is_passed_over() -> None:
    rows, plain = samples_in(PAGE)
    assert rows == ("rows", {"query": 'a "b" \\ {c}', "topic": "t,u"}, 12.0)
    assert plain == ("plain", {}, 0.5)
