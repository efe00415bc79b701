"""AccessStore: the users and rules of a broker, changed on the disk first.

The users that the settings name are there at every start: the first super user, and the brokers'
own. A user of that name who is in the file stays as the file has it.
"""

from collections.abc import Callable

from aerobee.errors import CorruptFile, ProtocolError
from aerobee.model.access import SUPER
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.bodies.access import UserChange
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.config import AccessConfig
from aerobee.service.access.sealing import BadSeal
from aerobee.service.access.table_text import table_from, table_json
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.saved_value import Change, Done, SavedValue

FILE = "access.json"


class AccessStore:
    def __init__(self, config: AccessConfig, file: ConfigFile, worker: DiskWorker) -> None:
        """CorruptFile: the file is damaged, or was written with another key."""
        key = config.key
        loaded = file.load()
        table = AccessTable()
        if loaded is not None:
            try:
                table = table_from(loaded.value, key)
            except (BadSeal, ProtocolError) as error:
                raise CorruptFile(
                    error.message,
                    path=file.path,
                    hint="is it the key file that this file was written with?",
                ) from None
        self.fault = "" if loaded is None else loaded.fault
        self._saved: SavedValue[AccessTable] = SavedValue(
            worker, lambda candidate: file.store(table_json(candidate, key)), seeded(table, config)
        )
        self.accounts = Accounts(self._saved.value)
        self._told: list[Callable[[], None]] = []

    def when_changed(self, told: Callable[[], None]) -> None:
        """Register a callback for the moment at which another table is in force."""
        self._told.append(told)

    def change(self, change: Change[AccessTable], done: Done) -> None:
        """Change the table; `done` hears what went wrong, or None when it is saved and in force."""

        def saved(error: BaseException | None) -> None:
            before = self.accounts.epoch
            self.accounts.replace(self._saved.value)
            if self.accounts.epoch != before:
                for told in self._told:
                    told()
            done(error)

        self._saved.change(change, saved)

    def take_over(self, table: AccessTable, done: Callable[[BaseException | None], None]) -> None:
        """A slave's: have the table of the master."""
        self.change(lambda known: known if known == table else table, done)


def seeded(table: AccessTable, config: AccessConfig) -> AccessTable:
    """The table with the users that the settings name."""
    for login in (config.init_user, config.inner):
        if login is not None and login.access_key not in table.users:
            user = UserChange(login.access_key, login.secret_key, SUPER, True)
            table = table.with_user(user, None)
    return table
