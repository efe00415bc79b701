"""The script of the demonstration: the rate of each topic, and the outcome of each message.

    demo-orders     keys, tags, in order for each customer      ▶ demo-billing, demo-shipping (slow)
    demo-payments   transactions: most committed, some rolled   ▶ demo-ledger
                    back, a few left open until they are asked about
    demo-logins     batches; some fail at first and come again, ▶ demo-guard
                    a few never can be handled: dead letters
    demo-reminders  for a later time                            ▶ demo-mail

All functions depend on a message's number and the time since the start only: no chance, no state.
"""

import math
from enum import Enum
from typing import Any

ORDERS = "demo-orders"
PAYMENTS = "demo-payments"
LOGINS = "demo-logins"
REMINDERS = "demo-reminders"
TOPICS = {ORDERS: "NORMAL", PAYMENTS: "TRANSACTION", LOGINS: "NORMAL", REMINDERS: "DELAY"}
"""By topic, what its messages are."""

BILLING = "demo-billing"
SHIPPING = "demo-shipping"
LEDGER = "demo-ledger"
GUARD = "demo-guard"
MAIL = "demo-mail"
GROUPS = {BILLING: ORDERS, SHIPPING: ORDERS, LEDGER: PAYMENTS, GUARD: LOGINS, MAIL: REMINDERS}
"""By group, the topic that it consumes."""
PAYERS = "demo-payers"
"""In whose name transactions are begun."""

SETTINGS = {
    # Whoever watches should not wait for half a minute until a broker asks.
    "transactionTimeOut": "2000",
    "transactionCheckInterval": "3000",
}
"""Of the brokers, unless they are told otherwise."""
ATTEMPTS_MAX = 3
_SLOW_CYCLE_SECONDS = 40.0
_SLOW_SECONDS = 16.0
_SLOW_PACE = 0.25
_FAST_PACE = 0.005
DELAYS_SECONDS = (2, 5, 8, 13, 21)
_CUSTOMERS = 50
_STEPS = ("created", "paid", "packed", "sent")


class StoryOutcome(Enum):
    """The outcome of a local transaction."""

    COMMIT = "commit"
    ROLLBACK = "rollback"
    OPEN = "open"


class StoryVerdict(Enum):
    """The result of handling a login."""

    FINE = "fine"
    LATER = "later"
    NEVER = "never"


def rate(topic: str, seconds: float) -> float:
    """Return the messages per second."""
    if topic == ORDERS:
        return 40 + 25 * math.sin(seconds * math.tau / 30)
    if topic == LOGINS:
        return 60 + 30 * math.sin(seconds * math.tau / 20 + 1)
    return {PAYMENTS: 4.0, REMINDERS: 2.0}[topic]


def body(topic: str, number: int) -> dict[str, Any]:
    """Return the body of a message."""
    said: dict[str, Any] = {"number": number}
    if topic == ORDERS:
        said |= {"customer": customer(number), "step": tag(ORDERS, number)}
    elif topic == PAYMENTS:
        said |= {"order": key(ORDERS, number), "cents": 499 + number * 37 % 20_000}
    elif topic == LOGINS:
        said |= {"user": customer(number), "from": f"10.0.{number % 7}.{number % 251}"}
    else:
        said |= {"to": customer(number), "about": key(ORDERS, number)}
    return said


def tag(topic: str, number: int) -> str:
    if topic == ORDERS:
        return _STEPS[number % len(_STEPS)]
    return "web" if number % 3 else "phone"


def key(topic: str, number: int) -> str:
    return f"{topic.removeprefix('demo-')[0]}-{number}"


def customer(number: int) -> str:
    return f"c-{number * 7 % _CUSTOMERS}"


def payment(number: int) -> StoryOutcome:
    """Return the outcome of a payment. One in six is rolled back, one in twenty left open."""
    if number % 20 == 7:
        return StoryOutcome.OPEN
    return StoryOutcome.ROLLBACK if number % 6 == 5 else StoryOutcome.COMMIT


def was_paid(number: int) -> bool:
    """Return the answer to a broker's check of a transaction that was left open."""
    return number % 40 == 7


def delay_seconds(number: int) -> int:
    return DELAYS_SECONDS[number % len(DELAYS_SECONDS)]


def login(number: int, attempt: int) -> StoryVerdict:
    """Return the result for a login. One in eighty fails at its first try; one in nine hundred
    always."""
    if number % 900 == 450:
        return StoryVerdict.NEVER
    return StoryVerdict.LATER if number % 80 == 3 and attempt == 1 else StoryVerdict.FINE


def is_slow(seconds: float) -> bool:
    """Whether the shipping group is in its slow phase; afterwards it catches up."""
    return seconds % _SLOW_CYCLE_SECONDS < _SLOW_SECONDS


def pace(seconds: float) -> float:
    """Return the seconds that the shipping group takes for one order."""
    return _SLOW_PACE if is_slow(seconds) else _FAST_PACE
