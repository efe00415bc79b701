import pytest

from aerobee.errors import Misuse
from aerobee.model.access import Credentials
from aerobee.pipeline.spark.option_texts import OptionTexts

KNOWN = ("nameServer", "accessKey", "secretKey", "tls", "batchSize", "wait", "mode")


def texts(**given: str) -> OptionTexts:
    return OptionTexts(given, KNOWN, {"other": "an option of reads"})


def test_names_are_taken_in_any_case_and_sparks_own_are_passed_over() -> None:
    read = texts(BATCHsize=" 7 ", path="x", checkpointLocation="y")
    assert read.number("batchSize") == 7
    assert read.said("batchSize", "wait") == ["batchSize"]
    assert read.has("batchSize")
    read.check()


def test_an_option_that_is_not_known_names_the_one_that_was_meant_or_where_it_belongs() -> None:
    with pytest.raises(Misuse) as caught:
        texts(batchSice="7", other="1", zzz="1").check()
    assert str(caught.value) == (
        "there is no option batchSice; was batchSize meant?; other: an option of reads; "
        "there is no option zzz"
    )


def test_every_mistake_is_told_at_once() -> None:
    read = texts(batchSize="0", wait="soon", mode="fast")
    assert read.number("batchSize") is None
    assert read.duration("wait", 3.0) == 3.0
    assert read.one_of("mode", {"slow": 1, "atOnce": 2}, 1) == 1
    read.refuse(("wait",), "batch")
    with pytest.raises(Misuse) as caught:
        read.check()
    assert str(caught.value) == (
        "batchSize is a whole number from 1 on, not '0'; wait is a duration like 500ms, 30s or "
        "15m, not 'soon'; mode is one of slow, atOnce, not 'fast'; a batch does not take wait"
    )


def test_values_are_read_and_absent_ones_are_what_was_said() -> None:
    read = texts(wait="2m", mode="ATONCE", batchSize="0")
    assert read.duration("wait", 1.0) == 120.0
    assert read.one_of("mode", {"slow": 1, "atOnce": 2}, 1) == 2
    assert read.number("batchSize", least=0) == 0
    assert texts().duration("wait", 1.0) == 1.0
    assert texts().number("batchSize") is None
    assert texts().text("mode", "x") == "x"


def test_a_cluster_is_named_with_who_asks_it() -> None:
    target = texts(nameServer="a:1;b:2", accessKey="k", secretKey="s", tls="true").target()
    assert target is not None
    assert target.name_servers == ("a:1", "b:2")
    assert target.credentials == Credentials("k", "s")
    assert target.is_tls
    missing = texts(accessKey="k")
    assert missing.target() is None
    assert "nameServer is missing" in missing.mistakes[0]
    half = texts(nameServer="a:1", accessKey="k")
    half.target()
    assert half.mistakes == ["accessKey and secretKey go together"]
