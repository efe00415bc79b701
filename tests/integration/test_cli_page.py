"""The commands of docs/cli.md are run, in their order, against a real server and then its files."""

import asyncio
import contextlib
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import aerobee as mq
from aerobee.cli.commands.completion import places_in
from aerobee.cli.main import parser_for
from aerobee.cli.nouns import NOUNS
from aerobee.model.flags import TransactionType
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.admin_kit import put
from tests.cli_kit import Said, aerobee, aerobee_here
from tests.server_kit import Server, running_server

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text("utf-8")
SECTIONS = {
    title: "".join(re.findall(r"```shell\n(.*?)```", text, re.DOTALL)).splitlines()
    for title, text in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
}
MESSAGE, FIRST_HALF, SECOND_HALF = (
    f"C0A8000100002A9F0000000000000F{end}" for end in ("00", "01", "02")
)
LOCAL = {"config", "context", "completion", "store"}


@contextlib.contextmanager
def variables(**values: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


async def _prepare(server: Server) -> None:
    """What the page takes to be there: a message of a known id, a group with a member that gave
    some messages up, and open transactions."""
    async with server.connect() as client:
        await client.admin.topics.create("payments", queues=1)
        for number in range(2):
            await client.send("payments", b"%d" % number, tag="created")
        consumer = client.consumer("payments", group="billing", start="earliest")
        async with consumer:
            for _ in range(2):
                await (await anext(aiter(consumer))).reject()
        while await client.admin.dead_letters.count("billing") < 2:
            pass
        queue = MessageQueue("payments", "broker-a", QueueId(0))
        for name in (FIRST_HALF, SECOND_HALF):
            flag = str(int(TransactionType.PREPARED))
            await put(
                client, queue, b"x", sys_flag=flag, TRAN_MSG="true", PGROUP="tx", UNIQ_KEY=name
            )


def _send_known(server: Server) -> str:
    """A message with a trace; its id."""

    async def send() -> str:
        async with mq.connect(server.name_server, trace=True) as client:
            return (await client.send("orders", b"known")).message_id

    message_id = asyncio.run(send())
    while aerobee(server, "message", "trace", message_id).status:
        pass  # a name server hears of a new topic a moment later
    return message_id


def _run(line: str, server: Server) -> Said:
    words = shlex.split(line)
    stdin = None
    if words[0] == "printf":
        stdin = words[1].encode().decode("unicode_escape")
        words = words[words.index("|") + 1 :]
    assert words[0] == "aerobee", line
    if "--body" in words:
        stdin = ""  # bytes go to a process's own stdout only
    if ">" in words:
        words = words[: words.index(">")]
    local = words[1] in LOCAL
    return (
        aerobee_here(*words[1:], stdin=stdin) if local else aerobee(server, *words[1:], stdin=stdin)
    )


def _run_section(lines: list[str], server: Server, message_id: str) -> None:
    for line in lines:
        if line.startswith("eval"):
            line = "aerobee completion bash"
        said = _run(line.replace(MESSAGE, message_id), server)
        assert said.status == 0, f"{line}\n{said.out}{said.error}"
        assert said.out, line


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


def test_every_command_of_the_page_works(home: Path) -> None:
    with (
        contextlib.chdir(home),
        variables(AEROBEE_CONFIG=str(home / "contexts.json"), HOME=str(home)),
    ):
        with running_server(home) as server:
            asyncio.run(_prepare(server))
            message_id = ""
            for title, lines in SECTIONS.items():
                if title == "message":
                    message_id = _send_known(server)
                if title != "store":
                    _run_section(lines, server, message_id)
        _run_section(SECTIONS["store"], server, message_id)


def test_every_noun_and_verb_of_the_page_s_nouns_is_on_the_page() -> None:
    titles = {word for title in SECTIONS for word in title.split()}
    mine = [noun for noun in NOUNS if noun in titles]
    assert len(mine) >= 13
    for place in places_in(parser_for(mine)):
        words = place.path.split()
        if not words or words[0] not in mine or words[-1] in ("start", "kv"):
            continue
        assert " ".join(words) in PAGE or words[-1] in PAGE, place.path


def test_commands_that_texts_and_hints_name_are_there() -> None:
    known = {place.path.strip() for place in places_in(parser_for(tuple(NOUNS)))}
    with_verbs = {path.split()[0] for path in known if " " in path} - {"mqadmin"}
    root = Path(__file__).resolve().parents[2]
    wrong = []
    for file in (*root.glob("src/**/*.py"), *root.glob("docs/**/*.md"), root / "README.md"):
        for noun, verb in re.findall(r"aerobee ([a-z]+) ([a-z][a-z-]*)", file.read_text("utf-8")):
            if noun in with_verbs and f"{noun} {verb}" not in known:
                wrong.append(f"{file.relative_to(root)}: aerobee {noun} {verb}")
    assert wrong == []
