"""VersionedTable is a table of configs by name, with a version, as topics and groups are saved:

    {"dataVersion":{…}, …, "topicConfigTable":{"T":{…},"U":{…}}}

A table is immutable: a change makes another, which shares the rows that stay. Each row keeps its
text in the file, because the whole file is written at every change, and encoding ten thousand
topics again would keep the process busy for half a second each time.

Unknown members of a row or a file are kept and written again, so that going back to the broker that
wrote them loses nothing.

The texts of rows are made by the disk job that writes the table, one at a time; everything else is
called from the core's thread.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar, cast

from aerobee.errors import CorruptFile, ProtocolError
from aerobee.model.topic import DataVersion
from aerobee.protocol.bodies.topic_config import data_version_from, data_version_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, write_pretty
from aerobee.storage.metadata.config_file import ConfigFile

C = TypeVar("C")
_VERSION = "dataVersion"
_NOTHING: Mapping[str, Value] = {}


class Form(NamedTuple, Generic[C]):
    """The type of a table's rows, and their JSON form."""

    member: str
    """The name of the table in its file."""
    read: Callable[[Members, str], C]
    write: Callable[[C], Mapping[str, Value]]


class VersionedRow(Generic[C]):
    __slots__ = ("_text", "config", "unknown")

    def __init__(self, config: C, unknown: Mapping[str, Value] = _NOTHING) -> None:
        self.config = config
        self.unknown = unknown
        self._text: bytes | None = None

    def is_same(self, other: "VersionedRow[C]") -> bool:
        return self.config == other.config and self.unknown == other.unknown

    def text(self, name: str, form: Form[C]) -> bytes:
        """The row as it stands in the file, its name included."""
        if self._text is None:
            members: Mapping[str, Value] = {**form.write(self.config), **self.unknown}
            # Written at its depth and cut out, so that the layout is the writer's own.
            self._text = write_pretty({"": {name: members}})[len('{\n\t"":{\n') : -len("\n\t}\n}")]
        return self._text


class VersionedTable(Generic[C]):
    __slots__ = ("_form", "news", "rest", "rows", "version")

    def __init__(
        self,
        form: Form[C],
        version: DataVersion,
        rows: Mapping[str, VersionedRow[C]],
        rest: Mapping[str, Value] = _NOTHING,
        news: Sequence[str] = (),
    ) -> None:
        self._form = form
        self.version = version
        self.rows = rows
        self.rest = rest
        """The other members of the file."""
        self.news = news
        """The names whose rows are not those of the table that this was made from."""

    def find(self, name: str) -> C | None:
        row = self.rows.get(name)
        return None if row is None else row.config

    def row_json(self, name: str) -> Mapping[str, Value] | None:
        """A row as it stands in the file; None: there is none."""
        row = self.rows.get(name)
        return None if row is None else {**self._form.write(row.config), **row.unknown}

    def changed(self, configs: Mapping[str, C | None], wall_ms: int) -> "VersionedTable[C]":
        """The table with these rows replaced, None for removed ones; itself if nothing changes."""
        news = {name: config for name, config in configs.items() if config != self.find(name)}
        if not news:
            return self
        rows = dict(self.rows)
        for name, config in news.items():
            if config is None:
                del rows[name]
            else:
                old = rows.get(name)
                rows[name] = VersionedRow(config, _NOTHING if old is None else old.unknown)
        return VersionedTable(self._form, self.version.next(wall_ms), rows, self.rest, tuple(news))

    def renewed(self, name: str, wall_ms: int) -> "VersionedTable[C]":
        """The table with a new version, as if a row had changed."""
        return VersionedTable(self._form, self.version.next(wall_ms), self.rows, self.rest, (name,))

    def in_next_term(
        self, wall_ms: int, term: int = 0, news: Sequence[str] = ()
    ) -> "VersionedTable[C]":
        """The table with a version that is newer than any of its present term: of the next one, or
        of `term` if that is later. `news`: names whose rows have changed, too."""
        version = self.version.next(wall_ms)
        version = version._replace(state_version=max(version.state_version + 1, term))
        return VersionedTable(self._form, version, self.rows, self.rest, news)

    def with_rest(self, name: str, value: Value, wall_ms: int) -> "VersionedTable[C]":
        """The table with another member of the file replaced."""
        return VersionedTable(
            self._form, self.version.next(wall_ms), self.rows, {**self.rest, name: value}
        )

    def taken_over(
        self, copied: "CopiedTable[C]", kept: Iterable[str], rest: Mapping[str, Value] = _NOTHING
    ) -> "VersionedTable[C]":
        """The table with the rows and the version of a master's. `kept` names rows that stay if the
        master has none, `rest` other members of the file that are replaced."""
        rows: dict[str, VersionedRow[C]] = {
            name: row for name in kept if (row := self.rows.get(name)) is not None
        }
        for name, row in copied.rows.items():
            old = self.rows.get(name)
            rows[name] = old if old is not None and old.is_same(row) else row
        names = {**self.rows, **rows}
        news = [name for name in names if rows.get(name) is not self.rows.get(name)]
        return VersionedTable(self._form, copied.version, rows, {**self.rest, **rest}, news)

    def text(self) -> bytes:
        """The content of the file."""
        form = self._form
        frame = write_pretty(
            {_VERSION: data_version_json(self.version), **self.rest, form.member: {}}
        )
        if not self.rows:
            return frame
        rows = b",\n".join(row.text(name, form) for name, row in self.rows.items())
        return frame[: -len("}\n}")] + b"\n" + rows + b"\n\t}\n}"


class CopiedTable(NamedTuple, Generic[C]):
    """The rows of a master's table and their version."""

    version: DataVersion
    rows: Mapping[str, VersionedRow[C]]


class LoadedTable(NamedTuple, Generic[C]):
    table: VersionedTable[C]
    fault: str
    """Empty, or why the backup was used: worth a warning."""


def copied_table(members: Members, form: Form[C], version: str = _VERSION) -> CopiedTable[C]:
    """The table in an answer of a master, or one page of it: it is written as in the file, its
    version in the member `version`. ProtocolError: it is not valid."""
    return CopiedTable(data_version_from(members.object(version)), _rows_from(members, form))


def load_table(file: ConfigFile, form: Form[C], wall_ms: int) -> LoadedTable[C]:
    """Reads the file; a new table if there is none. CorruptFile: it is damaged, and so is its
    backup."""
    loaded = file.load()
    if loaded is None:
        return LoadedTable(VersionedTable(form, DataVersion(timestamp=wall_ms), {}), "")
    try:
        members = Members(loaded.value, file.path)
        rows = _rows_from(members, form)
        version = data_version_from(members.object(_VERSION))
        rest = {name: members.plain()[name] for name in members.names()}
    except ProtocolError as error:
        raise CorruptFile(error.message, path=file.path) from None
    rest.pop(_VERSION, None)
    rest.pop(form.member, None)
    return LoadedTable(
        VersionedTable(form, version, rows, cast("dict[str, Value]", rest)), loaded.fault
    )


def _rows_from(members: Members, form: Form[C]) -> dict[str, VersionedRow[C]]:
    return {name: _row_from(row, name, form) for name, row in members.object(form.member).objects()}


def _row_from(members: Members, name: str, form: Form[C]) -> VersionedRow[C]:
    config = form.read(members, name)
    unknown = members.plain().keys() - form.write(config).keys()
    if not unknown:
        return VersionedRow(config)
    plain = cast("Mapping[str, Value]", members.plain())
    return VersionedRow(config, {key: value for key, value in plain.items() if key in unknown})
