"""A shop that keeps its orders in a database: what is there before anybody looks, and traffic.

Traffic is made up from a seed: new orders, orders that change their state, orders that are taken
back; several in a transaction. In the middle of it the table gets a column more. What was ordered
is written down here, too, so that statistics can be compared with something.
"""

import random
import threading
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import pymysql

from aerobee.pipeline.sandbox.mariadb import MariaDb

DATABASE = "shop"
TABLE = "orders"
CITIES = ("Bergen", "Kyiv", "Lagos", "Lima", "Osaka")
STATES = ("new", "paid", "sent", "returned")
_SCHEMA = f"""
CREATE TABLE {DATABASE}.{TABLE} (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  customer VARCHAR(40) NOT NULL,
  city VARCHAR(20) NOT NULL,
  amount DECIMAL(10,2) NOT NULL,
  state ENUM('new','paid','sent','returned') NOT NULL,
  created_at DATETIME(6) NOT NULL,
  note TEXT NULL
)"""
_INSERT = (
    f"INSERT INTO {DATABASE}.{TABLE} (customer, city, amount, state, created_at, note) "
    "VALUES (%s, %s, %s, 'new', %s, %s)"
)
_NOTES = (None, "ring twice", "gift — не розкривати", 'with "quotes" and \\ slashes')
_IN_TRANSACTION_MAX = 12


class Ordered(NamedTuple):
    """What is known of an order for ever, whatever becomes of its row."""

    created_at: datetime
    city: str
    amount: Decimal


class Shop:
    """One connection makes the traffic; it belongs to one thread at a time."""

    def __init__(self, server: MariaDb, seed: int = 7) -> None:
        self._server = server
        self._chance = random.Random(seed)
        self._ids: list[int] = []
        self._is_wide = False
        self.ordered: list[Ordered] = []
        self.changes = 0
        """Rows that were written, changed or removed so far."""

    def open(self, orders: int) -> None:
        """A table with some orders of the last minutes in it."""
        with self.connected() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
            cursor.execute(_SCHEMA)
            now = _now()
            for number in range(orders):
                self._order(cursor, now - timedelta(milliseconds=50 * (orders - number)))
            connection.commit()

    def trade(self, stop: threading.Event, changes_per_second: int) -> None:
        """Traffic until it is told to stop."""
        with self.connected() as connection, connection.cursor() as cursor:
            while not stop.is_set():
                count = self._chance.randint(1, _IN_TRANSACTION_MAX)
                for _ in range(count):
                    self._step(cursor)
                connection.commit()
                stop.wait(count / changes_per_second)

    def widen(self) -> None:
        """A new column, in the middle of everything."""
        with self.connected() as connection, connection.cursor() as cursor:
            cursor.execute(
                f"ALTER TABLE {DATABASE}.{TABLE} ADD COLUMN priority TINYINT NULL AFTER city"
            )
        self._is_wide = True

    def rows(self) -> list[dict[str, Any]]:
        """The table as it is, by id."""
        rows_as = pymysql.cursors.DictCursor
        with self.connected() as connection, connection.cursor(rows_as) as cursor:
            cursor.execute(f"SELECT * FROM {DATABASE}.{TABLE} ORDER BY id")
            return list(cursor.fetchall())

    def connected(self) -> Any:
        at = self._server
        return pymysql.connect(
            host=at.host, port=at.port, user=at.user, password=at.password, charset="utf8mb4"
        )

    def _step(self, cursor: Any) -> None:
        chance = self._chance.random()
        if chance < 0.55 or not self._ids:
            self._order(cursor, _now())
        elif chance < 0.92:
            state = self._chance.choice(STATES[1:])
            priority = f", priority = {self._chance.randint(1, 3)}" if self._is_wide else ""
            self._on_row(cursor, "UPDATE", f"SET state = '{state}'{priority}")
        else:
            self._on_row(cursor, "DELETE", "")

    def _order(self, cursor: Any, at: datetime) -> None:
        city = self._chance.choice(CITIES)
        amount = Decimal(self._chance.randint(100, 99_999)) / 100
        note = self._chance.choice(_NOTES)
        cursor.execute(
            _INSERT, (f"customer {self._chance.randint(1, 400)}", city, amount, at, note)
        )
        self._ids.append(cursor.lastrowid)
        self.ordered.append(Ordered(at.replace(tzinfo=UTC), city, amount))
        self.changes += 1

    def _on_row(self, cursor: Any, verb: str, what: str) -> None:
        place = self._chance.randrange(len(self._ids))
        number = self._ids[place]
        if verb == "DELETE":
            self._ids[place] = self._ids[-1]
            self._ids.pop()
            cursor.execute(f"DELETE FROM {DATABASE}.{TABLE} WHERE id = {number}")
        else:
            cursor.execute(f"UPDATE {DATABASE}.{TABLE} {what} WHERE id = {number}")
        self.changes += cursor.rowcount


class Sales(NamedTuple):
    """Of one city in one window."""

    orders: int
    amount: Decimal


def sales_of(ordered: list[Ordered], window_seconds: int) -> dict[tuple[datetime, str], Sales]:
    """What the statistics must come to: by the beginning of a window, and city."""
    found: dict[tuple[datetime, str], Sales] = defaultdict(lambda: Sales(0, Decimal(0)))
    for one in ordered:
        second = int(one.created_at.timestamp())
        begin = datetime.fromtimestamp(second - second % window_seconds, UTC)
        so_far = found[begin, one.city]
        found[begin, one.city] = Sales(so_far.orders + 1, so_far.amount + one.amount)
    return dict(found)


def _now() -> datetime:
    """As the database has it: UTC, and nothing said of it."""
    return datetime.now(UTC).replace(tzinfo=None)
