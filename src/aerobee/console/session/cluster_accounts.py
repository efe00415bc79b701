"""ClusterAccounts: users of the cluster log in to the console, by their names and passwords.

A log-in is a request to a broker that is signed with them: a broker tells a wrong signature from a
right one whose user may not do this. A super user is an administrator; other roles come from a
table:

    clusterRoles=alice:admin,bob:operator,*:viewer      * is every user that is not named

A user whom the table does not name, and who is not super, may not log in. A cluster that asks
nobody for a signature would take any password: then nobody may.

Brokers are asked whether a user is still there and enabled. A console whose own user may not look
at others, and one that reaches no broker, cannot know: sessions go on until their time is over.
"""

from collections.abc import Mapping
from dataclasses import replace

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.admin import admin as admin_of
from aerobee.client.core.target import parse_target
from aerobee.console.session.accounts import Account
from aerobee.console.session.visitor import Role, role_of
from aerobee.errors import AerobeeError, Misuse, PartlyDone, RemoteAnswer
from aerobee.model.access import SUPER, Credentials, User
from aerobee.protocol.response_codes import ResponseCode

EVERYBODY = "*"
_NOT_ALLOWED = "has no permission"
"""In RocketMQ's refusal of a request whose signature is right."""


def roles_in(text: str) -> dict[str, Role]:
    """Parse `alice:admin,*:viewer`. ValueError in words that continue "must be"."""
    found = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, colon, word = part.rpartition(":")
        if not colon or not name:
            raise ValueError("pairs like alice:operator, with commas in between")
        found[name] = role_of(word)
    return found


class ClusterAccounts:
    def __init__(self, admin: Admin, target: str, roles: Mapping[str, Role]) -> None:
        """`admin` has the console's own credentials, `target` is its cluster."""
        self._admin = admin
        self._target = parse_target(target)
        self._roles = roles
        self._address = ""
        """A master that asks for signatures; empty: none is known."""

    async def check(self, name: str, password: str) -> Account | None:
        """Return the account, if the cluster knows the user by this password. Misuse: the cluster
        asks nobody for a password."""
        if not name or not password:
            return None
        address = self._address = await self._guarded_broker()
        if not await self._is_user(address, Credentials(name, password)):
            return None
        role = await self._standing(address, name)
        return Account(name, role, "") if role is not None else None

    async def is_valid(self, account: Account) -> bool:
        """Whether a user is still what it was at the log-in, as far as brokers tell."""
        try:
            address = self._address or await self._guarded_broker()
            user = (await self._admin.access.user(account.name, on=address))[address]
        except AerobeeError:
            self._address = ""
            return True
        if user is None or not user.is_enabled:
            return False
        return self._role_of(account.name, user) == account.role

    async def _guarded_broker(self) -> str:
        """Return the address of a master that asks for signatures."""
        try:
            told = await self._admin.brokers.config()
        except PartlyDone as partly:
            told = dict(partly.done)  # type: ignore[arg-type]
        for broker, settings in told.items():
            if settings.get("authenticationEnabled", "").lower() == "true":
                masters = {one.name: one.addresses for one in (await self._admin.cluster()).brokers}
                return masters[broker][0]
        raise Misuse(
            "the cluster asks nobody for a password",
            hint="set authenticationEnabled=true on its brokers, or loginUsers=own",
        )

    async def _is_user(self, address: str, credentials: Credentials) -> bool:
        async with admin_of(replace(self._target, credentials=credentials)) as signed:
            try:
                await signed.brokers.runtime(on=address)
            except RemoteAnswer as error:
                is_refused = error.code == ResponseCode.NO_PERMISSION
                if not is_refused:
                    raise
                return _NOT_ALLOWED in error.message
        return True

    async def _standing(self, address: str, name: str) -> Role | None:
        """Return the role of a user; None: it may not log in."""
        try:
            user = (await self._admin.access.user(name, on=address))[address]
        except RemoteAnswer:  # the console's own user may not look at others
            user = None
        return self._role_of(name, user)

    def _role_of(self, name: str, user: User | None) -> Role | None:
        if name in self._roles:
            return self._roles[name]
        if user is not None and user.kind == SUPER:
            return Role.ADMIN
        return self._roles.get(EVERYBODY)
