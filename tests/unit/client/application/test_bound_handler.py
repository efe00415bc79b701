from typing import Any

import pytest

from aerobee.client.api.message import Message
from aerobee.client.application.bound_handler import check_handler
from aerobee.client.client import Client
from aerobee.errors import Misuse


def test_what_no_message_could_be_handed_to_is_refused() -> None:
    def two_bodies(order: dict[str, int], other: bytes) -> None: ...

    def nothing() -> None: ...

    def anything(*args: Any) -> None: ...

    def by_name(order: bytes, *, rate: int) -> None: ...

    def odd(order: complex) -> None: ...

    for function, said in (
        (two_bodies, "one body"),
        (nothing, "takes no message"),
        (anything, "any arguments"),
        (by_name, "nobody gives by_name its rate"),
        (odd, "cannot become"),
    ):
        with pytest.raises(Misuse, match=said):
            check_handler(function)


def test_a_message_a_client_and_defaults_are_taken() -> None:
    def whole(message: Message) -> None: ...

    def bare(message) -> None: ...  # type: ignore[no-untyped-def]

    async def all_of_it(order: bytes, message: Message, client: Client, rate: int = 3) -> None: ...

    for function in (whole, bare, all_of_it):
        check_handler(function)
