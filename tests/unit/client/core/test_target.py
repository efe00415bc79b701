import pytest

from aerobee.client.core.target import Target, parse_target
from aerobee.errors import Misuse
from aerobee.model.access import Credentials


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("localhost:9876", ("localhost:9876",)),
        ("10.0.0.1:1;10.0.0.2:2", ("10.0.0.1:1", "10.0.0.2:2")),
        ("a:1, b:2", ("a:1", "b:2")),
        ("a:1;a:1;", ("a:1",)),
        ("a", ("a:9876",)),
        ("[::1]", ("[::1]:9876",)),
        ("[::1]:10", ("[::1]:10",)),
        ("rmq://a;b:1", ("a:9876", "b:1")),
    ],
)
def test_name_servers_are_found_in_every_form(text: str, addresses: tuple[str, ...]) -> None:
    assert parse_target(text).name_servers == addresses


def test_a_url_says_everything() -> None:
    assert parse_target("rmq://key:s%40cret@a;b/shop?tls=on") == Target(
        ("a:9876", "b:9876"), Credentials("key", "s@cret"), "shop", True
    )


def test_files_of_certificates_are_part_of_it_and_mean_tls() -> None:
    said = parse_target("rmqs://a?ca=/etc/a%20b/ca.crt&cert=me.crt&key=me.key")
    assert said.is_tls
    assert (said.authority, said.certificate, said.key) == ("/etc/a b/ca.crt", "me.crt", "me.key")
    assert parse_target("rmqs://a").is_tls
    assert parse_target("rmq://a?ca=x").is_tls
    assert not parse_target("rmq://a?tls=off&ca=x").is_tls


@pytest.mark.parametrize(
    "text",
    [
        *("rmqs://a?tls=off", "rmqs://a?cert=x", "rmqs://a?key=x", "rmqs://a?crt=x"),
        *("", ";", "a:", "a:0", "a:65536", "a:x", ":1", "::1", "http://a", "rmq://"),
        *("rmq://a?tsl=on", "rmq://a?tls=perhaps", "rmq://key@a", "rmq://:secret@a"),
    ],
)
def test_what_is_no_target_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(Misuse) as caught:
        parse_target(text)
    assert caught.value.hint


def test_a_secret_never_shows() -> None:
    assert "hush" not in repr(parse_target("rmq://key:hush@a"))
    with pytest.raises(Misuse) as caught:
        parse_target("rmq://key:hush@a:b")
    assert "hush" not in str(caught.value)


def test_an_address_that_is_no_text_is_refused_with_what_to_say() -> None:
    with pytest.raises(Misuse, match="an address of type list") as caught:
        parse_target(["localhost:9876"])  # type: ignore[arg-type]
    assert "host:port;host:port" in caught.value.hint
