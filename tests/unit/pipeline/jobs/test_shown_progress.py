import urllib.request
from collections.abc import Mapping
from typing import Any

import pytest

from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.jobs.job import Chosen
from aerobee.pipeline.jobs.shown_progress import committed_by, port_of, shown_progress
from aerobee.pipeline.source.stream_offsets import as_dict
from tests.server_kit import Server
from tests.sink_kit import lag_of


class Heard:
    def __init__(self) -> None:
        self.steps: list[str] = []
        self.batches = 0

    def step(self, text: str) -> None:
        self.steps.append(text)

    def batch(self, progress: Mapping[str, Any]) -> None:
        self.batches += 1

    def tasks(self, done: int, total: int) -> None:
        self.steps.append(f"{done} of {total}")


def chosen(server: str = "h:9876", **more: str) -> Chosen:
    values = {"name-server": server, "topic": "ShownFar", "group": "", "from": "earliest"}
    return Chosen({**values, "commit-offsets": "no", "metrics": "", **more})


def progress(offset: int) -> dict[str, Any]:
    queues = [MessageQueue("ShownFar", "broker-a", QueueId(number)) for number in range(4)]
    ends = as_dict(dict.fromkeys(queues, offset))
    latest = as_dict(dict.fromkeys(queues, 2))
    return {"name": "lake", "sources": [{"endOffset": ends, "latestOffset": latest}]}


def test_a_query_is_a_group_and_a_page_as_far_as_that_was_chosen(server: Server) -> None:
    server.send("ShownFar", [b"x"] * 8)
    heard = Heard()
    wanted = chosen(server.name_server, **{"commit-offsets": "yes", "metrics": "0"})
    with shown_progress("lake", wanted, heard) as watcher:
        watcher.batch(progress(1))
        watcher.step("stopping")
        watcher.tasks(1, 2)
        group, page = heard.steps[:2]
        assert group == "group lake-ShownFar: aerobee group describe lake-ShownFar"
        with urllib.request.urlopen(page.removeprefix("metrics: ")) as answer:
            text = answer.read().decode()
    lag = 'aerobee_query_lag_messages{query="lake",topic="ShownFar",broker="broker-a",queue="3"} 1'
    assert lag in text
    assert (heard.batches, heard.steps[2:]) == (1, ["stopping", "1 of 2"])
    assert lag_of(server, "lake-ShownFar") == {"ShownFar": 4}
    with shown_progress("lake", chosen(server.name_server), heard) as watcher:
        watcher.batch(progress(2))
    assert (heard.batches, len(heard.steps)) == (2, 4)
    assert lag_of(server, "lake-ShownFar") == {"ShownFar": 4}


def test_who_commits_reads_what_the_job_reads_under_the_name_that_was_chosen() -> None:
    assert committed_by("lake", chosen()) is None
    yes = {"commit-offsets": "yes"}
    read = committed_by("lake", chosen(**yes))
    assert read is not None
    assert (read.group, read.topics, read.commits) == ("lake-ShownFar", ("ShownFar",), True)
    named = committed_by("lake", chosen(**yes, group="reports"))
    assert named is not None
    assert named.group == "reports"
    signed = Chosen(chosen(**yes).values, source={"accessKey": "a", "secretKey": "s"})
    read = committed_by("lake", signed)
    assert read is not None
    assert read.target.credentials is not None


@pytest.mark.parametrize("text", ["x", "-1", "65536", "80 80"])
def test_a_port_that_is_none_is_wrong_use(text: str) -> None:
    assert port_of(chosen(metrics="65535")) == 65535
    with pytest.raises(Misuse, match="metrics is a port from 0 to 65535"):
        port_of(chosen(metrics=text))
