from tests.console_kit import ConsoleClient


def test_the_pages_about_messages_are_served(console: ConsoleClient) -> None:
    paths = console.get("/api")["paths"].keys()
    assert {"/api/messages", "/api/dead-letters", "/api/transactions", "/api/delayed"} <= paths
