from pathlib import Path

from aerobee.client.group.offset_stores import LocalOffsetStore, local_folder
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.net_kit import in_loop

ONE, TWO = (MessageQueue("T", "b", QueueId(number)) for number in range(2))


def local(folder: Path) -> LocalOffsetStore:
    return LocalOffsetStore(folder, "10.0.0.1@DEFAULT", "g")


def test_offsets_are_found_again_in_the_place_and_form_of_rocketmq(tmp_path: Path) -> None:
    async def test() -> None:
        await local(tmp_path).commit({ONE: 7})
        path = tmp_path / "10.0.0.1@DEFAULT" / "g" / "offsets.json"
        assert path.read_bytes() == (
            b'{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:7}}'
        )
        found = local(tmp_path)
        assert (await found.committed(ONE), await found.committed(TWO)) == (7, None)

    in_loop(test)


def test_a_damaged_file_is_not_believed_and_the_one_before_it_is(tmp_path: Path) -> None:
    async def test() -> None:
        offsets = local(tmp_path)
        await offsets.commit({ONE: 7})
        await offsets.commit({ONE: 9})
        path = tmp_path / "10.0.0.1@DEFAULT" / "g" / "offsets.json"
        path.write_bytes(b'{"offsetTable":{{"brok')
        assert await local(tmp_path).committed(ONE) == 7

    in_loop(test)


def test_nothing_is_written_when_nothing_is_new(tmp_path: Path) -> None:
    async def test() -> None:
        offsets = local(tmp_path)
        await offsets.commit({ONE: 7})
        path = tmp_path / "10.0.0.1@DEFAULT" / "g" / "offsets.json"
        path.unlink()
        await offsets.commit({ONE: 7})
        assert not path.exists()

    in_loop(test)


def test_javas_folder_is_in_the_home_folder() -> None:
    assert local_folder() == Path.home() / ".rocketmq_offsets"
