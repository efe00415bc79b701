from tests.console_kit import ConsoleClient


def test_what_is_no_call_of_the_api_is_the_page_and_a_wrong_call_is_told(
    console: ConsoleClient,
) -> None:
    told = console.ask("GET", "/api/nothing/here")
    assert (told.status, told.code) == (404, "not_found")
    assert console.ask("PUT", "/api/topics", {}).status == 405
    page = console.ask("GET", "/groups/billing")
    assert page.headers["content-type"].startswith(("text/html", "text/plain"))
