"""Users and what they may do, at brokers that keep such: RocketMQ's since 5.3, where it is enabled.

Each broker keeps its own; what is changed is changed on all masters. A broker that asks nobody who
it is refuses, and says so.
"""

from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.protocol.bodies.access import (
    Rights,
    User,
    decode_rights,
    decode_rights_list,
    decode_user,
    decode_users,
    encode_rights,
    encode_user,
)
from aerobee.protocol.headers.access import (
    RightsFilterHeader,
    SubjectHeader,
    UserFilterHeader,
    UserHeader,
)
from aerobee.protocol.request_codes import RequestCode


class AccessAdmin:
    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out

    # Users.

    async def create_user(self, user: User, *, on: Where = None) -> list[str]:
        code, header = RequestCode.AUTH_CREATE_USER, UserHeader(user.name)
        return list(await self._fan_out.on_masters(on, code, header, encode_user(user)))

    async def update_user(self, user: User, *, on: Where = None) -> list[str]:
        """Without a password it keeps the one that it has."""
        code, header = RequestCode.AUTH_UPDATE_USER, UserHeader(user.name)
        return list(await self._fan_out.on_masters(on, code, header, encode_user(user)))

    async def delete_user(self, name: str, *, on: Where = None) -> list[str]:
        code = RequestCode.AUTH_DELETE_USER
        return list(await self._fan_out.on_masters(on, code, UserHeader(name)))

    async def user(self, name: str, *, on: Where = None) -> dict[str, User | None]:
        """By broker; None: it does not know the name."""
        answers = await self._fan_out.on_masters(on, RequestCode.AUTH_GET_USER, UserHeader(name))
        return {broker: decode_user(bytes(one.body)) for broker, one in answers.items()}

    async def users(self, *, name: str | None = None, on: Where = None) -> dict[str, list[User]]:
        """By broker, all users, or those whose name has this in it."""
        code, header = RequestCode.AUTH_LIST_USER, UserFilterHeader(name)
        answers = await self._fan_out.on_masters(on, code, header)
        return {broker: decode_users(bytes(one.body)) for broker, one in answers.items()}

    # What they may do.

    async def create_rights(self, rights: Rights, *, on: Where = None) -> list[str]:
        code, header = RequestCode.AUTH_CREATE_ACL, SubjectHeader(rights.subject)
        return list(await self._fan_out.on_masters(on, code, header, encode_rights(rights)))

    async def update_rights(self, rights: Rights, *, on: Where = None) -> list[str]:
        code, header = RequestCode.AUTH_UPDATE_ACL, SubjectHeader(rights.subject)
        return list(await self._fan_out.on_masters(on, code, header, encode_rights(rights)))

    async def delete_rights(
        self, subject: str, *, resource: str | None = None, on: Where = None
    ) -> list[str]:
        """All that a subject has, or those to one resource."""
        code, header = RequestCode.AUTH_DELETE_ACL, SubjectHeader(subject, resource=resource)
        return list(await self._fan_out.on_masters(on, code, header))

    async def rights(self, subject: str, *, on: Where = None) -> dict[str, Rights | None]:
        """By broker; None: it has no rules for the subject."""
        code, header = RequestCode.AUTH_GET_ACL, SubjectHeader(subject)
        answers = await self._fan_out.on_masters(on, code, header)
        return {broker: decode_rights(bytes(one.body)) for broker, one in answers.items()}

    async def rights_of_all(
        self, *, subject: str | None = None, resource: str | None = None, on: Where = None
    ) -> dict[str, list[Rights]]:
        """By broker, all rules, or those of subjects and resources that have this in them."""
        code, header = RequestCode.AUTH_LIST_ACL, RightsFilterHeader(subject, resource)
        answers = await self._fan_out.on_masters(on, code, header)
        return {broker: decode_rights_list(bytes(one.body)) for broker, one in answers.items()}
