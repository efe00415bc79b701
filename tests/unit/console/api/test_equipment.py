from aerobee.console.api.equipment import Equipment


def test_every_page_may_have_the_client_and_a_clock() -> None:
    assert {"admin", "wall_ms"} <= set(Equipment._fields)
