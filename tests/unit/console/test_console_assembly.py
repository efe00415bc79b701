from tests.console_kit import ConsoleClient


def test_the_session_tells_what_a_page_needs_at_first(console: ConsoleClient) -> None:
    told = console.get("/api/session")
    assert (told["user"], told["role"], told["login_needed"]) == (None, "admin", False)
    assert told["clusters"] == ["DefaultCluster"]
    assert told["name_servers"] == [console.name_server]
    assert len(told["csrf"]) > 30


def test_the_description_describes_itself(console: ConsoleClient) -> None:
    assert console.get("/api")["paths"]["/api"]["get"]["operationId"] == "describe"
