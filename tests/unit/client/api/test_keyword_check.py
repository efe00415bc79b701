import pytest

from aerobee.client.api.keyword_check import check_keywords
from aerobee.errors import Misuse

KNOWN = ("tag", "keys", "headers")


def test_what_is_known_may_be_said() -> None:
    check_keywords(["keys", "tag"], KNOWN, "a send")


def test_a_keyword_that_nothing_takes_is_said_with_the_one_that_was_meant() -> None:
    with pytest.raises(Misuse, match="a send takes no key=") as caught:
        check_keywords(["tag", "key"], KNOWN, "a send")
    assert caught.value.hint == "did you mean keys=?"


def test_one_that_is_like_none_is_said_with_all_that_there_are() -> None:
    with pytest.raises(Misuse) as caught:
        check_keywords(["when"], KNOWN, "a send")
    assert caught.value.hint == "it takes headers, keys, tag"
