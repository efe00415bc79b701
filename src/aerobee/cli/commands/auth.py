"""`aerobee auth …`: users and rules of brokers that ask who sends a request.

Brokers keep their own users, so a change goes to all masters; slaves and name servers have it a
second later. A password is never an argument, which others could see: it is read from a file or
from standard input, or made here and printed once.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import (
    Verbs,
    add_care,
    add_noun,
    add_verb,
    add_where,
    asked,
    do,
    do_with_care,
    say,
    show,
)
from aerobee.errors import Misuse, NotFound
from aerobee.model.access import (
    ALLOW,
    CUSTOM,
    DEFAULT,
    DENY,
    NORMAL,
    SUBJECT_PREFIX,
    SUPER,
    Rights,
    Rule,
    User,
)

if TYPE_CHECKING:
    from aerobee.client.admin.access import AccessAdmin
    from aerobee.protocol.text.plain_acl import PlainAcl

_EXAMPLES = """\
  aerobee auth users
  aerobee auth create-user billing                 with a password that is printed once
  aerobee auth create-user boss --super --password-file boss.txt
  aerobee auth update-user billing --disable
  aerobee auth allow billing Topic:orders Sub Get
  aerobee auth allow billing 'Group:billing*' Sub --from 10.0.0.0/8
  aerobee auth deny billing Topic:orders-secret All
  aerobee auth rules billing
  aerobee auth can billing Sub Topic:orders        and why, or why not
  aerobee auth forget billing Topic:orders
  aerobee auth import plain_acl.yml                users and rules of RocketMQ 4
  aerobee auth export -o yaml
  aerobee auth delete-user billing
"""
_SECRET_BYTES = 24


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "auth", "users, and what they may do", _EXAMPLES)
    users = add_verb(verbs, "users", "all users", list_users)
    users.add_argument("--name", help="only those whose name has this text")
    create = add_verb(verbs, "create-user", "make a user", create_user)
    create.add_argument("user")
    create.add_argument("--super", action="store_true", help="one who may do everything")
    _add_password(create, "without it one is made and printed, once")
    update = add_verb(verbs, "update-user", "change a user", update_user)
    update.add_argument("user")
    _add_password(update, "a new one")
    kinds = update.add_mutually_exclusive_group()
    kinds.add_argument("--super", action="store_true", help="let it do everything")
    kinds.add_argument("--normal", action="store_true", help="let it do what its rules say")
    states = update.add_mutually_exclusive_group()
    states.add_argument("--enable", action="store_true")
    states.add_argument("--disable", action="store_true", help="refuse it everything")
    delete = add_verb(verbs, "delete-user", "delete a user and its rules", delete_user)
    delete.add_argument("user")
    rules = add_verb(verbs, "rules", "what users may do, by their rules", list_rules)
    rules.add_argument("user", nargs="?")
    rules.add_argument("--resource", help="only rules for resources that have this text")
    for name, text in (("allow", "let a user do something"), ("deny", "refuse a user something")):
        parser = add_verb(verbs, name, text, add_rule)
        parser.add_argument("user")
        parser.add_argument("resource", help="Topic:NAME, Group:NAME, Cluster:NAME, Topic:PRE*, *")
        parser.add_argument("action", nargs="+", help="Pub Sub Create Update Delete Get List All")
        parser.add_argument("--from", dest="sources", action="append", metavar="ADDRESS",
                            help="only from there: an address or a network")  # fmt: skip
        parser.add_argument("--default", action="store_true",
                            help="only where no other rule of the user fits")  # fmt: skip
        parser.set_defaults(decision=ALLOW if name == "allow" else DENY)
    forget = add_verb(verbs, "forget", "delete rules of a user", forget_rules)
    forget.add_argument("user")
    forget.add_argument("resource", nargs="?", help="only the rule for this (all rules)")
    forget.add_argument("--default", action="store_true", help="the rule of the default policy")
    can = add_verb(verbs, "can", "whether a user may do something, and why", can_do)
    can.add_argument("user")
    can.add_argument("action")
    can.add_argument("resource")
    can.add_argument("--from", dest="source", default="", metavar="ADDRESS")
    importing = add_verb(verbs, "import", "take over a plain_acl.yml", import_acl)
    importing.add_argument("file")
    add_verb(verbs, "export", "all users and rules, without passwords", export)
    for parser in verbs.choices.values():
        add_where(parser)
    for parser in (delete, forget, importing):
        add_care(parser)


def _add_password(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument(
        "--password-file", metavar="FILE", help=f"the file with its password, - is stdin; {text}"
    )


# Users.


def list_users(parsed: argparse.Namespace) -> int:
    async def ask(access: "AccessAdmin") -> list[dict[str, object]]:
        found = await access.users(name=parsed.name, on=parsed.on)
        return [
            {**_user_record(user), "broker": broker}
            for broker, users in found.items()
            for user in users
        ]

    return show(parsed, lambda admin: ask(admin.access), empty="there is no such user")


def create_user(parsed: argparse.Namespace) -> int:
    import secrets

    given = _password(parsed)
    password = given or secrets.token_urlsafe(_SECRET_BYTES)
    user = User(parsed.user, password, SUPER if parsed.super else NORMAL)
    asked(parsed, lambda admin: admin.access.create_user(user, on=parsed.on))
    if given:
        say(parsed, f"{parsed.user} is made")
    else:
        told = f"{parsed.user} is made; its password, which is not shown again: {password}"
        say(parsed, told)
    return 0


def update_user(parsed: argparse.Namespace) -> int:
    password = _password(parsed)
    kind = SUPER if parsed.super else NORMAL if parsed.normal else ""
    if not (password or kind or parsed.enable or parsed.disable):
        raise Misuse("nothing is to be changed", hint="see `aerobee auth update-user --help`")

    async def act(access: "AccessAdmin") -> None:
        for broker, known in (await access.user(parsed.user, on=parsed.on)).items():
            if known is None:
                raise NotFound(f"{broker} has no user {parsed.user!r}", hint="`aerobee auth users`")
            is_enabled = parsed.enable or (known.is_enabled and not parsed.disable)
            user = User(parsed.user, password, kind or known.kind, is_enabled)
            await access.update_user(user, on=broker)

    return do(parsed, lambda admin: act(admin.access), f"{parsed.user} is changed")


def delete_user(parsed: argparse.Namespace) -> int:
    async def act(access: "AccessAdmin") -> None:
        await access.delete_user(parsed.user, on=parsed.on)

    effect = f"delete the user {parsed.user} and its rules"
    return do_with_care(
        parsed, lambda admin: act(admin.access), effect, f"{parsed.user} is deleted"
    )


def _password(parsed: argparse.Namespace) -> str:
    """Read the password; empty: none is given."""
    path = parsed.password_file
    if path is None:
        return ""
    if path == "-" and sys.stdin.isatty():
        import getpass

        return getpass.getpass(f"password of {parsed.user}: ")
    try:
        if path == "-":
            text = sys.stdin.read()
        else:
            with open(path, encoding="utf-8") as file:
                text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Misuse(f"the password cannot be read from {path}: {error}") from None
    if not text.strip():
        raise Misuse(f"{path} has no password in it")
    return text.strip()


# Rules.


def list_rules(parsed: argparse.Namespace) -> int:
    async def ask(access: "AccessAdmin") -> list[dict[str, object]]:
        subject = f"{SUBJECT_PREFIX}{parsed.user}" if parsed.user else None
        found = await access.rights_of_all(subject=subject, resource=parsed.resource, on=parsed.on)
        return [
            {**_rule_record(rights, rule), "broker": broker}
            for broker, all_rights in found.items()
            for rights in all_rights
            if subject is None or rights.subject == subject
            for rule in rights.rules
        ]

    return show(
        parsed, lambda admin: ask(admin.access), empty="there is no such rule: nothing is allowed"
    )


def add_rule(parsed: argparse.Namespace) -> int:
    from aerobee.service.access.access_rules import find_rule_fault

    rule = Rule(
        parsed.resource,
        tuple(parsed.action),
        parsed.decision,
        tuple(parsed.sources or ()),
        DEFAULT if parsed.default else CUSTOM,
    )
    fault = find_rule_fault(rule)
    if fault is not None:
        raise Misuse(fault.rstrip("."), hint="see `aerobee auth allow --help`")
    rights = Rights(f"{SUBJECT_PREFIX}{parsed.user}", (rule,))
    done = f"{parsed.user}: {parsed.decision.lower()} {', '.join(rule.actions)} on {rule.resource}"
    return do(parsed, lambda admin: admin.access.create_rights(rights, on=parsed.on), done)


def forget_rules(parsed: argparse.Namespace) -> int:
    subject = f"{SUBJECT_PREFIX}{parsed.user}"
    policy = DEFAULT if parsed.default else None

    async def act(access: "AccessAdmin") -> None:
        await access.delete_rights(subject, resource=parsed.resource, policy=policy, on=parsed.on)

    what = f"the rule for {parsed.resource}" if parsed.resource else "all rules"
    effect = f"delete {what} of {parsed.user}"
    return do_with_care(
        parsed, lambda admin: act(admin.access), effect, f"{what} of {parsed.user}: deleted"
    )


def can_do(parsed: argparse.Namespace) -> int:
    """Decide as a broker does, by the rules that it has."""
    from aerobee.app.explaining.rights_verdict import rights_verdicts

    async def ask(access: "AccessAdmin") -> list[dict[str, object]]:
        verdicts = await rights_verdicts(
            access,
            parsed.user,
            parsed.action,
            parsed.resource,
            source=parsed.source,
            on=parsed.on,
        )
        return [{"can": one.can, "reason": one.reason, "broker": one.broker} for one in verdicts]

    return show(
        parsed,
        lambda admin: ask(admin.access),
        status=lambda found: 0 if all(one["can"] for one in found) else 1,
    )


# Files.


def import_acl(parsed: argparse.Namespace) -> int:
    found = _read_acl(parsed.file)
    for note in found.notes:
        print(f"not converted: {note}", file=sys.stderr)

    async def act(access: "AccessAdmin") -> None:
        for user in found.users:
            for broker, known in (await access.user(user.name, on=parsed.on)).items():
                if known is None:
                    await access.create_user(user, on=broker)
        for rights in found.rights:
            await access.create_rights(rights, on=parsed.on)

    names = ", ".join(user.name for user in found.users)
    effect = f"make the users {names} where they are missing, and set {len(found.rights)} rule sets"
    return do_with_care(
        parsed, lambda admin: act(admin.access), effect, f"{len(found.users)} users are taken over"
    )


def _read_acl(path: str) -> "PlainAcl":
    from aerobee.app.load.workload.workload import read_yaml
    from aerobee.protocol.text.plain_acl import convert_plain_acl

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Misuse(f"{path} cannot be read: {error}") from None
    return convert_plain_acl(read_yaml(text, path))


def export(parsed: argparse.Namespace) -> int:
    async def ask(access: "AccessAdmin") -> list[dict[str, object]]:
        users = await access.users(on=parsed.on)
        rights = await access.rights_of_all(on=parsed.on)
        return [
            {
                **_user_record(user),
                "rules": [
                    _rule_record(one, rule)
                    for one in rights.get(broker, ())
                    if one.subject == f"{SUBJECT_PREFIX}{user.name}"
                    for rule in one.rules
                ],
                "broker": broker,
            }
            for broker, found in users.items()
            for user in found
        ]

    return show(parsed, lambda admin: ask(admin.access), empty="there is no user")


def _user_record(user: User) -> dict[str, object]:
    return {"user": user.name, "type": user.kind, "enabled": user.is_enabled}


def _rule_record(rights: Rights, rule: Rule) -> dict[str, object]:
    return {
        "user": rights.subject.removeprefix(SUBJECT_PREFIX),
        "decision": rule.decision,
        "actions": ", ".join(rule.actions),
        "resource": rule.resource,
        "from": ", ".join(rule.sources),
        "policy": rule.policy,
    }
