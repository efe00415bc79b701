"""Sub-commands about users and access rules, for brokers that store them.

RocketMQ's brokers do where that is enabled. A broker without authentication refuses, and its reason
is printed. Passwords are never printed, though a broker returns them.
"""

from collections.abc import Iterable

from aerobee.cli.mqadmin.command import WHERE, Call, Command, required
from aerobee.cli.mqadmin.options import Option
from aerobee.errors import NotFound
from aerobee.model.access import NORMAL, Rights, Rule, User

_HIDDEN = "******"
_USER = required(Option("u", "username", "the user"))
_SUBJECT = required(Option("s", "subject", "User:name"))
_RULE = (
    required(Option("r", "resources", "Topic:orders,Group:billing")),
    required(Option("a", "actions", "Pub,Sub,…")),
    required(Option("d", "decision", "Allow or Deny")),
    Option("i", "sourceIp", "addresses or networks, with commas in between"),
)


async def create_user(call: Call) -> None:
    given = call.given
    user = User(given.text("username"), given.text("password"), given.text("userType", NORMAL))
    for address in await call.masters():
        await call.admin.access.create_user(user, on=address)
        call.say(f"create user to {address} success.")


async def update_user(call: Call) -> None:
    given = call.given
    name = given.text("username")
    given.one_of("password", "userType", "userStatus")
    for address in await call.masters():
        known = (await call.admin.access.user(name, on=address))[address]
        if known is None:
            raise NotFound(f"{address} has no user {name!r}", hint="make it with createUser")
        is_enabled = known.is_enabled
        if "userStatus" in given:
            is_enabled = given.text("userStatus").lower() == "enable"
        kind = given.text("userType", known.kind)
        user = User(name, given.text("password"), kind, is_enabled)
        await call.admin.access.update_user(user, on=address)
        call.say(f"update user to {address} success.")


async def delete_user(call: Call) -> None:
    for address in await call.masters():
        await call.admin.access.delete_user(call.given.text("username"), on=address)
        call.say(f"delete user to {address} success.")


async def show_user(call: Call) -> None:
    name = call.given.text("username")
    for address in await call.masters():
        user = (await call.admin.access.user(name, on=address))[address]
        if user is None:
            raise NotFound(f"{address} has no user {name!r}", hint="see listUser")
        _say_users(call, [user])


async def list_users(call: Call) -> None:
    for address in await call.masters():
        name = call.given.text("filter") or None
        _say_users(call, (await call.admin.access.users(name=name, on=address))[address])


def _say_users(call: Call, users: Iterable[User]) -> None:
    call.say(f"{'#UserName':<16}  {'#Password':<22}  {'#UserType':<22}  {'#UserStatus':<22}")
    for user in users:
        status = "enable" if user.is_enabled else "disable"
        call.say(f"{user.name:<16}  {_HIDDEN:<22}  {user.kind:<22}  {status:<22}")


async def copy_users(call: Call) -> None:
    source, target = call.given.text("fromBroker"), call.given.text("toBroker")
    wanted = set(filter(None, call.given.text("usernames").split(",")))
    for user in (await call.admin.access.users(on=source))[source]:
        if wanted and user.name not in wanted:
            continue
        known = (await call.admin.access.user(user.name, on=target))[target]
        copy = call.admin.access.create_user if known is None else call.admin.access.update_user
        await copy(user, on=target)
        call.say(f"copy user of {user.name} from {source} to {target} success.")


def _rights(call: Call) -> Rights:
    given = call.given
    actions, sources = _parts(call, "actions"), _parts(call, "sourceIp")
    rules = [
        Rule(resource, actions, given.text("decision"), sources)
        for resource in _parts(call, "resources")
    ]
    return Rights(given.text("subject"), tuple(rules))


def _parts(call: Call, name: str) -> tuple[str, ...]:
    return tuple(filter(None, call.given.text(name).split(",")))


async def create_rights(call: Call) -> None:
    for address in await call.masters():
        await call.admin.access.create_rights(_rights(call), on=address)
        call.say(f"create acl to {address} success.")


async def update_rights(call: Call) -> None:
    for address in await call.masters():
        await call.admin.access.update_rights(_rights(call), on=address)
        call.say(f"update acl to {address} success.")


async def delete_rights(call: Call) -> None:
    subject = call.given.text("subject")
    for address in await call.masters():
        for resource in _parts(call, "resources") or (None,):
            await call.admin.access.delete_rights(subject, resource=resource, on=address)
        call.say(f"delete acl to {address} success.")


async def show_rights(call: Call) -> None:
    subject = call.given.text("subject")
    for address in await call.masters():
        rights = (await call.admin.access.rights(subject, on=address))[address]
        if rights is None:
            raise NotFound(f"{address} has no rules for {subject!r}", hint="see listAcl")
        _say_rights(call, [rights])


async def list_rights(call: Call) -> None:
    subject, resource = call.given.text("subject") or None, call.given.text("resource") or None
    for address in await call.masters():
        found = await call.admin.access.rights_of_all(
            subject=subject, resource=resource, on=address
        )
        _say_rights(call, found[address])


def _say_rights(call: Call, all_rights: Iterable[Rights]) -> None:
    call.say(
        f"{'#Subject':<16}  {'#PolicyType':<10}  {'#Resource':<22}  {'#Actions':<20}  "
        f"{'#SourceIp':<24}  {'#Decision':<10}"
    )
    for rights in all_rights:
        for rule in rights.rules:
            actions = f"[{', '.join(rule.actions)}]"
            sources = f"[{', '.join(rule.sources)}]" if rule.sources else "null"
            call.say(
                f"{rights.subject:<16}  {rule.policy:<10}  {rule.resource:<22}  {actions:<20}  "
                f"{sources:<24}  {rule.decision:<10}"
            )


async def copy_rights(call: Call) -> None:
    source, target = call.given.text("fromBroker"), call.given.text("toBroker")
    wanted = set(_parts(call, "subjects"))
    asking = call.admin.access
    for rights in (await asking.rights_of_all(on=source))[source]:
        if wanted and rights.subject not in wanted:
            continue
        known = (await asking.rights(rights.subject, on=target))[target]
        await (asking.create_rights if known is None else asking.update_rights)(rights, on=target)
        call.say(f"copy acl of {rights.subject} from {source} to {target} success.")


_COPY = (
    required(Option("f", "fromBroker", "the address of the broker that has them")),
    required(Option("t", "toBroker", "the address of the broker that gets them")),
)

COMMANDS = (
    Command(
        "createUser",
        "Create user to cluster.",
        (
            *WHERE,
            _USER,
            required(Option("p", "password", "its password")),
            Option("t", "userType", "Super or Normal (Normal)"),
        ),
        create_user,
    ),
    Command(
        "updateUser",
        "Update user to cluster.",
        (
            *WHERE,
            _USER,
            Option("p", "password", "its new password"),
            Option("t", "userType", "Super or Normal"),
            Option("s", "userStatus", "enable or disable"),
        ),
        update_user,
    ),
    Command("deleteUser", "Delete user from cluster.", (*WHERE, _USER), delete_user),
    Command("getUser", "Get user from cluster.", (*WHERE, _USER), show_user),
    Command(
        "listUser",
        "List user from cluster.",
        (*WHERE, Option("f", "filter", "only those whose name has this")),
        list_users,
    ),
    Command(
        "copyUser",
        "Copy user to cluster.",
        (*_COPY, Option("u", "usernames", "only these, with commas in between")),
        copy_users,
    ),
    Command("createAcl", "Create acl to cluster.", (*WHERE, _SUBJECT, *_RULE), create_rights),
    Command("updateAcl", "Update acl to cluster.", (*WHERE, _SUBJECT, *_RULE), update_rights),
    Command(
        "deleteAcl",
        "Delete acl from cluster.",
        (*WHERE, _SUBJECT, Option("r", "resources", "only the rules for these")),
        delete_rights,
    ),
    Command("getAcl", "Get acl from cluster.", (*WHERE, _SUBJECT), show_rights),
    Command(
        "listAcl",
        "List acl from cluster.",
        (
            *WHERE,
            Option("s", "subject", "only of subjects that have this"),
            Option("r", "resource", "only for resources that have this"),
        ),
        list_rights,
    ),
    Command(
        "copyAcl",
        "Copy acl to cluster.",
        (*_COPY, Option("s", "subjects", "only of these, with commas in between")),
        copy_rights,
    ),
)
