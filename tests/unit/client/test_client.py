import aerobee
from tests.net_kit import in_loop


def test_every_client_has_an_id_of_its_own_and_opens_without_a_server() -> None:
    async def test() -> None:
        async with aerobee.connect("127.0.0.1:1") as one, aerobee.connect("127.0.0.1:1") as other:
            assert one.id != other.id

    in_loop(test)
