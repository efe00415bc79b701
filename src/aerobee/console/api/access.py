"""Users of the cluster (RocketMQ's ACL 2.0): the list, and its changes.

Every broker keeps its own; a change is sent to all masters. A cluster without authentication has
none: the list is empty then, and says why. No answer holds a password.
"""

from collections.abc import Callable

from aerobee.client.admin.admin import Admin
from aerobee.console.api.listing import LIST, Row, page_of
from aerobee.console.http.action import DELETE, GET, PATCH, POST, Action, Ask, Record
from aerobee.console.http.parameters import BODY, Parameter, ValueKind, in_path
from aerobee.console.http.problem import bad_request, not_found
from aerobee.console.session.visitor import Role
from aerobee.console.watch.catalogue import Catalogue
from aerobee.errors import AerobeeError
from aerobee.model.access import NORMAL, SUPER, User

NO_USERS = "this cluster has no users: set authenticationEnabled=true on its brokers"
KINDS = (NORMAL, SUPER)


class AccessPages:
    def __init__(self, admin: Admin, catalogue: Catalogue, wall_ms: Callable[[], int]) -> None:
        self._admin = admin
        self._catalogue = catalogue
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        name = in_path("name", "of a user")
        return (
            Action(
                "listUsers",
                GET,
                "/api/users",
                Role.ADMIN,
                "Users of the cluster",
                self.users,
                LIST,
                command="aerobee auth users",
                python="await admin.access.users()",
            ),
            Action(
                "createUser",
                POST,
                "/api/users",
                Role.ADMIN,
                "Create a user of the cluster",
                self.create,
                (
                    Parameter("name", BODY, "of the new user", is_required=True),
                    Parameter("password", BODY, "its password", is_required=True),
                    Parameter("kind", BODY, "of user", default=NORMAL, choices=KINDS),
                ),
                of="name",
                command="aerobee auth create-user {name} [--super?{kind=Super}] --password-file -",
            ),
            Action(
                "changeUser",
                PATCH,
                "/api/users/{name}",
                Role.ADMIN,
                "Change a user: its password, its kind, whether it is let in",
                self.change,
                (
                    name,
                    Parameter("password", BODY, "a new one"),
                    Parameter("kind", BODY, "of user", choices=KINDS),
                    Parameter("enabled", BODY, "whether it is let in", ValueKind.TRUTH),
                ),
                of="name",
                command="aerobee auth update-user {name} [--super?{kind=Super}]"
                " [--normal?{kind=Normal}] [--enable?{enabled}] [--disable?!{enabled}]"
                " [--password-file -?{password}]",
            ),
            Action(
                "deleteUser",
                DELETE,
                "/api/users/{name}",
                Role.ADMIN,
                "Delete a user of the cluster, and its rights",
                self.delete,
                (name,),
                confirm="name",
                command="aerobee auth delete-user {name}",
                python="await admin.access.delete_user({name!r})",
            ),
        )

    async def users(self, ask: Ask) -> Record:
        try:
            told = await self._catalogue.by_broker(self._admin.access.users)
        except AerobeeError as error:
            return no_users(ask, error, at=self._wall_ms())
        found: dict[str, Row] = {}
        for broker, users in sorted(told.items()):
            for user in users:
                row = found.setdefault(user.name, _user_row(user))
                row["brokers"].append(broker)
        return page_of(ask, found.values(), at=self._wall_ms())

    async def create(self, ask: Ask) -> Record:
        name = ask.text("name")
        user = User(name, ask.text("password"), ask.text("kind"))
        return {
            "done": f"user {name} was created",
            "brokers": await self._admin.access.create_user(user),
        }

    async def change(self, ask: Ask) -> Record:
        name, password = ask.text("name"), ask.text("password")
        kind, enabled = ask.text("kind"), ask.maybe_truth("enabled")
        if not (password or kind or enabled is not None):
            raise bad_request("nothing is to be changed", hint="password, kind or enabled")
        access = self._admin.access
        known = {broker: one for broker, one in (await access.user(name)).items() if one}
        if not known:
            raise not_found(f"there is no user {name!r}")
        for broker, user in known.items():
            is_enabled = user.is_enabled if enabled is None else enabled
            await access.update_user(User(name, password, kind or user.kind, is_enabled), on=broker)
        return {"done": f"user {name} was changed", "brokers": sorted(known)}

    async def delete(self, ask: Ask) -> Record:
        name = ask.text("name")
        brokers = await self._admin.access.delete_user(name)
        return {"done": f"user {name} was deleted", "brokers": brokers}


def no_users(ask: Ask, error: AerobeeError, *, at: int, name: str = "name") -> Record:
    """Return the empty list of a cluster that refuses to tell of users, with the reason."""
    why = f"{NO_USERS} ({error.message})"
    return page_of(ask, [], at=at, name=name, unknown={"rows": why})


def _user_row(user: User) -> Row:
    return {"name": user.name, "kind": user.kind, "enabled": user.is_enabled, "brokers": []}
