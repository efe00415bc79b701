import pytest

from aerobee.console.http.guard import check_change, check_host, check_origin, security_headers
from aerobee.console.http.problem import Problem
from aerobee.console.session.visitor import Role, Visitor

VISITOR = Visitor("127.0.0.1", Role.ADMIN, None, "token")
GOOD = {"host": "localhost:8080", "x-csrf-token": "token"}


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "10.1.2.3", "mq.local"]
)
def test_addresses_and_configured_names_are_hosts(host: str) -> None:
    check_host(host, {"mq.local"})


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "", "127.0.0.1.evil.example"]
)
def test_a_name_that_was_not_configured_is_no_host(host: str) -> None:
    with pytest.raises(Problem) as caught:
        check_host(host, {"mq.local"})
    assert caught.value.code == "wrong_host"


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"origin": "http://localhost:8080"},
        {"origin": "http://localhost:8080", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ],
)
def test_a_change_with_the_token_from_a_page_of_ours_passes(more: dict[str, str]) -> None:
    check_change({**GOOD, **more}, VISITOR)


@pytest.mark.parametrize(
    "wrong",
    [
        {"x-csrf-token": ""},
        {"x-csrf-token": "tokem"},
        {"x-csrf-token": "tok\xe9n"},
        {"origin": "http://evil.example"},
        {"origin": "http://localhost:8081"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_change_that_another_site_may_have_made_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        check_change({**GOOD, **wrong}, VISITOR)
    assert caught.value.code == "csrf"
    with pytest.raises(Problem):
        check_change({**GOOD, "x-csrf-token": ""}, Visitor("127.0.0.1"))
    if "x-csrf-token" not in wrong:
        with pytest.raises(Problem):
            check_origin({**GOOD, **wrong})


def test_scripts_are_files_of_ours_and_nothing_may_be_framed() -> None:
    headers = dict(security_headers(has_tls=False))
    policy = headers[b"content-security-policy"].decode()
    assert "default-src 'none'; script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert b"strict-transport-security" not in headers
    assert b"strict-transport-security" in dict(security_headers(has_tls=True))
