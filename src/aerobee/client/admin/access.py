"""`AccessAdmin` manages users and access rules (ACL 2.0) of brokers: RocketMQ's since 5.3, if
enabled.

Each broker keeps its own users and rules, so a change is sent to all masters. A broker without
authentication refuses these requests and says so.
"""

from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.model.access import Rights, User
from aerobee.protocol.bodies.access import (
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
        """Change a user; without a password it keeps the one that it has."""
        code, header = RequestCode.AUTH_UPDATE_USER, UserHeader(user.name)
        return list(await self._fan_out.on_masters(on, code, header, encode_user(user)))

    async def delete_user(self, name: str, *, on: Where = None) -> list[str]:
        code = RequestCode.AUTH_DELETE_USER
        return list(await self._fan_out.on_masters(on, code, UserHeader(name)))

    async def user(self, name: str, *, on: Where = None) -> dict[str, User | None]:
        """The user, by broker; None if that broker does not know the name."""
        answers = await self._fan_out.on_masters(on, RequestCode.AUTH_GET_USER, UserHeader(name))
        return {broker: decode_user(bytes(one.body)) for broker, one in answers.items()}

    async def users(self, *, name: str | None = None, on: Where = None) -> dict[str, list[User]]:
        """Users by broker: all of them, or those whose name contains this text."""
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
        self,
        subject: str,
        *,
        resource: str | None = None,
        policy: str | None = None,
        on: Where = None,
    ) -> list[str]:
        """Delete all rules of a subject, or the one for a resource, of the policy Custom unless
        another is named."""
        code, header = RequestCode.AUTH_DELETE_ACL, SubjectHeader(subject, policy, resource)
        return list(await self._fan_out.on_masters(on, code, header))

    async def rights(self, subject: str, *, on: Where = None) -> dict[str, Rights | None]:
        """The rules of a subject, by broker; None if that broker has none."""
        code, header = RequestCode.AUTH_GET_ACL, SubjectHeader(subject)
        answers = await self._fan_out.on_masters(on, code, header)
        return {broker: decode_rights(bytes(one.body)) for broker, one in answers.items()}

    async def rights_of_all(
        self, *, subject: str | None = None, resource: str | None = None, on: Where = None
    ) -> dict[str, list[Rights]]:
        """Rules by broker: all, or those whose subjects and resources contain these texts."""
        code, header = RequestCode.AUTH_LIST_ACL, RightsFilterHeader(subject, resource)
        answers = await self._fan_out.on_masters(on, code, header)
        return {broker: decode_rights_list(bytes(one.body)) for broker, one in answers.items()}
