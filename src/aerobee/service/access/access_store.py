"""AccessStore: the users and rules of a broker, changed on the disk first.

The users that the settings name are there at every start: the first super user, and the brokers'
own. A user of that name who is in the file stays as the file has it.
"""

from collections.abc import Callable

from aerobee.errors import CorruptFile, ProtocolError
from aerobee.model.access import SUPER
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.bodies.access import UserChange
from aerobee.service.access.access_table import AccessTable, changed_names
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.config import AccessConfig
from aerobee.service.access.sealing import BadSeal
from aerobee.service.access.table_text import table_from, table_json
from aerobee.storage.metadata.config_file import ConfigFile, Loaded
from aerobee.storage.metadata.saved_value import (
    Change,
    Done,
    Journal,
    SavedValue,
    tell_journal,
)

FILE = "access.json"


class AccessStore:
    def __init__(self, config: AccessConfig, file: ConfigFile, worker: DiskWorker) -> None:
        """CorruptFile: the file is damaged, or was written with another key."""
        key = config.key
        loaded = file.load()
        table = table_of_file(loaded, file.path, key)
        self.fault = "" if loaded is None else loaded.fault
        self._saved: SavedValue[AccessTable] = SavedValue(
            worker, lambda candidate: file.store(table_json(candidate, key)), seeded(table, config)
        )
        self.accounts = Accounts(self._saved.value)
        self._told: list[Callable[[], None]] = []
        self.journal: Journal | None = None

    def when_changed(self, told: Callable[[], None]) -> None:
        """Register a callback for the moment at which another table is in force."""
        self._told.append(told)

    def change(self, change: Change[AccessTable], done: Done) -> None:
        """Change the table; `done` hears what went wrong, or None when it is saved and in force."""

        def saved(error: BaseException | None) -> None:
            before = self.accounts.table
            self.accounts.replace(self._saved.value)
            names = changed_names(before, self.accounts.table)
            if before is not self.accounts.table:
                for told in self._told:
                    told()
            tell_journal(self.journal, names, error, done)

        self._saved.change(change, saved)

    def take_over(self, table: AccessTable, done: Callable[[BaseException | None], None]) -> None:
        """A slave's: have the table of the master."""
        self.change(lambda known: known if known == table else table, done)


def table_of_file(loaded: Loaded | None, path: str, key: bytes) -> AccessTable:
    """The table that a file has; that of a file that does not exist is empty. CorruptFile: it was
    written with another key."""
    if loaded is None:
        return AccessTable()
    try:
        return table_from(loaded.value, key)
    except (BadSeal, ProtocolError) as error:
        raise CorruptFile(
            error.message,
            path=path,
            hint="is it the key file that this file was written with?",
        ) from None


def seeded(table: AccessTable, config: AccessConfig) -> AccessTable:
    """The table with the users that the settings name."""
    for login in (config.init_user, config.inner):
        if login is not None and login.access_key not in table.users:
            user = UserChange(login.access_key, login.secret_key, SUPER, True)
            table = table.with_user(user, None)
    return table
