"""A bank that loses no cent, whatever is killed: a desk takes money and a ledger books it.

    python -m examples.bank desk FOLDER      # pays by transfer and by card until Ctrl-C
    python -m examples.bank ledger FOLDER    # books what the desk has sent until Ctrl-C
    python -m examples.bank count FOLDER     # the money of both, to the cent

Each has a SQLite database of its own in FOLDER. docs/zero-loss.md explains every step. The address
of the name servers is in AEROBEE_NAMESRV, localhost:9876 if it is not set.
"""

import asyncio
import os
import random
import signal
import sqlite3
import sys
import uuid
from contextlib import closing, suppress
from pathlib import Path

import aerobee as mq

CAPITAL_CENTS = 100_000_000
DESK, LEDGER = "bank-desk", "bank-ledger"
TRANSFERS, CARDS = "bank-transfers", "bank-cards"
PAUSE_SECONDS = 0.02


class DeskBooks:
    """The desk's database. What is committed here survives a power cut."""

    def __init__(self, folder: Path) -> None:
        self._db = _opened(folder / "desk.sqlite")
        self._db.execute("CREATE TABLE IF NOT EXISTS transfers (id TEXT PRIMARY KEY, cents INT)")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS cards (id TEXT PRIMARY KEY, cents INT, is_handed_over INT)"
        )

    def debit(self, transfer: str, cents: int) -> None:
        self._db.execute("INSERT INTO transfers VALUES (?, ?)", (transfer, cents))

    async def is_debited(self, message: mq.Message) -> bool:
        """What became of a transfer? A broker asks when its desk was killed in between."""
        wanted = (message.json()["id"],)
        return (
            self._db.execute("SELECT 1 FROM transfers WHERE id = ?", wanted).fetchone() is not None
        )

    def note_card(self, card: str, cents: int) -> None:
        self._db.execute("INSERT INTO cards VALUES (?, ?, 0)", (card, cents))

    def note_handed_over(self, card: str) -> None:
        self._db.execute("UPDATE cards SET is_handed_over = 1 WHERE id = ?", (card,))

    def cards_to_hand_over(self) -> list[tuple[str, int]]:
        return self._db.execute("SELECT id, cents FROM cards WHERE NOT is_handed_over").fetchall()

    def cents(self, table: str) -> int:
        return _sum(self._db, table)


class LedgerBooks:
    """The ledger's database: each payment once, however often its message comes."""

    def __init__(self, folder: Path) -> None:
        self._db = _opened(folder / "ledger.sqlite")
        for table in ("transfers", "cards"):
            self._db.execute(f"CREATE TABLE IF NOT EXISTS {table} (id TEXT PRIMARY KEY, cents INT)")

    def book(self, table: str, payment: str, cents: int) -> None:
        self._db.execute(f"INSERT OR IGNORE INTO {table} VALUES (?, ?)", (payment, cents))

    def cents(self, table: str) -> int:
        return _sum(self._db, table)


async def desk(folder: Path, stop: asyncio.Event) -> None:
    books = DeskBooks(folder)
    async with (
        mq.connect(_address()) as client,
        client.spill(str(folder / "outbox.sqlite")) as spill,
    ):
        await client.answer_checks(DESK, books.is_debited, topics=[TRANSFERS])
        for (
            card,
            cents,
        ) in books.cards_to_hand_over():  # the desk was killed before it had sent them
            await spill.send(CARDS, {"id": card, "cents": cents}, keys=[card])
            books.note_handed_over(card)
        while not stop.is_set():
            await _transfer(client, books)
            await _card(spill, books)
            await asyncio.sleep(PAUSE_SECONDS)
        await spill.drained()


async def _transfer(client: mq.Client, books: DeskBooks) -> None:
    """A transfer waits for a broker: without one it is refused, and no money moves."""
    transfer, cents = uuid.uuid4().hex, random.randint(1, 10_000)
    body = {"id": transfer, "cents": cents}
    with suppress(mq.SendFailed):
        async with client.transaction(
            TRANSFERS, body, check=books.is_debited, group=DESK, keys=[transfer]
        ):
            books.debit(transfer, cents)


async def _card(spill: mq.Spill, books: DeskBooks) -> None:
    """A card was charged already: its payment waits for nobody and must not be refused."""
    card, cents = uuid.uuid4().hex, random.randint(1, 10_000)
    books.note_card(card, cents)
    await spill.send(CARDS, {"id": card, "cents": cents}, keys=[card])
    books.note_handed_over(card)


async def ledger(folder: Path, stop: asyncio.Event) -> None:
    books = LedgerBooks(folder)
    tables = {TRANSFERS: "transfers", CARDS: "cards"}
    async with (
        mq.connect(_address()) as client,
        client.consumer([TRANSFERS, CARDS], group=LEDGER, start="earliest") as consumer,
    ):
        while not stop.is_set():
            batch = await consumer.receive_many(32, timeout=0.2)
            async with batch.process():  # acknowledged after the block, so after the commits
                for message in batch:
                    payment = message.json()
                    books.book(tables[message.topic], payment["id"], payment["cents"])


def count(folder: Path) -> bool:
    """Print the money of both databases; whether all of it is there."""
    sent, booked = DeskBooks(folder), LedgerBooks(folder)
    left = CAPITAL_CENTS - sent.cents("transfers")
    differences = {name: sent.cents(name) - booked.cents(name) for name in ("transfers", "cards")}
    print(
        f"desk: {_euros(left)} left of {_euros(CAPITAL_CENTS)}, cards {_euros(sent.cents('cards'))}"
    )
    for name, cents in differences.items():
        print(f"ledger: {name} {_euros(booked.cents(name))}, missing {_euros(cents)}")
    return not any(differences.values())


def _opened(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)  # each statement is a commit of its own
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    return db


def _sum(db: sqlite3.Connection, table: str) -> int:
    with closing(db.execute(f"SELECT coalesce(sum(cents), 0) FROM {table}")) as rows:
        return int(rows.fetchone()[0])


def _euros(cents: int) -> str:
    return f"{cents / 100:,.2f}"


def _address() -> str:
    return os.environ.get("AEROBEE_NAMESRV", "localhost:9876")


async def _until_signal(role: str, folder: Path) -> None:
    """Begin again after every failure: everything that must not be forgotten is in a file."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    while not stop.is_set():
        try:
            await (desk if role == "desk" else ledger)(folder, stop)
        except mq.AerobeeError as error:
            print(f"{role}: {error}; again in a second", file=sys.stderr)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 1)


if __name__ == "__main__":
    role, place = sys.argv[1:]
    if role == "count":
        sys.exit(0 if count(Path(place)) else 1)
    asyncio.run(_until_signal(role, Path(place)))
