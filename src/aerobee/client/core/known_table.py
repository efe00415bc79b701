"""KnownTable: a broker's table of topics or groups, asked for again only if it has changed.

Brokers since 5.3.3 answer page by page, to who names the version of the table that it has. One that
has all rows asks for the page behind the last one: it is empty if nothing has changed. A broker
that knows no pages answers with the whole table every time.
"""

from collections.abc import Awaitable, Callable
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from aerobee.model.topic import DataVersion
from aerobee.protocol.bodies.topic_config import encode_data_version
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode

T = TypeVar("T")

Decode: TypeAlias = Callable[[bytes], tuple[DataVersion, list[T]]]
PageHeader: TypeAlias = Callable[[int, str, int], object]
"""(first row, version as text, rows at most) → header."""


class AskBroker(Protocol):
    """Sends a request to one broker."""

    def __call__(
        self, address: str, code: RequestCode, header: object = None
    ) -> Awaitable[RemotingCommand]: ...


class KnownTable(NamedTuple, Generic[T]):
    version: DataVersion
    rows: list[T]


class TableQuestion(NamedTuple, Generic[T]):
    """The request for a table, and how its answer is read."""

    code: RequestCode
    page: PageHeader
    total_field: str
    """In answers of brokers that know pages."""
    decode: Decode[T]

    async def ask(
        self, broker: AskBroker, address: str, known: KnownTable[T] | None
    ) -> KnownTable[T]:
        """Return the table as it is now; `known` itself, if it has not changed."""
        if known is not None:
            version = encode_data_version(known.version).decode()
            header = self.page(len(known.rows), version, 1)
            answer = await broker(address, self.code, header)
            found = KnownTable(*self.decode(bytes(answer.body)))
            if found.version == known.version:
                return known
            if self.total_field not in answer.ext_fields:
                return found
        answer = await broker(address, self.code)
        return KnownTable(*self.decode(bytes(answer.body)))
