"""Requests of tools that manage users and access rules: RocketMQ's codes from 3001 to 3010.

A change is answered when it is saved; it holds from then on, for open connections, too. Answers
never have a password. A broker that asks nobody who it is refuses all of them.

A follower of a Raft group hands changes on to its leader, signed by the brokers' own user: they are
still the change of the user who asked, and may do no more.
"""

from collections.abc import Callable

from aerobee.model.access import SUBJECT_PREFIX, Rights, User
from aerobee.protocol.bodies.access import (
    decode_rights,
    decode_user_change,
    encode_rights,
    encode_rights_list,
    encode_user,
    encode_users,
)
from aerobee.protocol.headers.access import (
    RightsFilterHeader,
    SubjectHeader,
    UserFilterHeader,
    UserHeader,
)
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.access_store import AccessStore
from aerobee.service.access.access_table import AccessRefused, AccessTable, subject_name
from aerobee.service.access.own_requests import ASKED_BY
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import Answer, Request

_CODE = RequestCode
CODES = (
    _CODE.AUTH_CREATE_USER,
    _CODE.AUTH_UPDATE_USER,
    _CODE.AUTH_DELETE_USER,
    _CODE.AUTH_GET_USER,
    _CODE.AUTH_LIST_USER,
    _CODE.AUTH_CREATE_ACL,
    _CODE.AUTH_UPDATE_ACL,
    _CODE.AUTH_DELETE_ACL,
    _CODE.AUTH_GET_ACL,
    _CODE.AUTH_LIST_ACL,
)
NO_USERS = (
    "authentication is not enabled: this broker keeps no users and no rights, "
    "and asks nobody who it is"
)
_OK = Answer(remark="not set any response code")
"""RocketMQ's answer to a change; tools look at the code."""


class AccessHandlers:
    def __init__(self, store: AccessStore, inner: str, *, is_slave: bool) -> None:
        """`inner` is the name of the brokers' own user, empty if there is none. `is_slave`:
        RocketMQ's tools tell slaves, too, which may have copied the user already."""
        self._store = store
        self._inner = inner
        self._is_slave = is_slave

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.ADMIN
        return [
            row(code.AUTH_CREATE_USER, UserHeader, self._create_user, lane),
            row(code.AUTH_UPDATE_USER, UserHeader, self._update_user, lane),
            row(code.AUTH_DELETE_USER, UserHeader, self._delete_user, lane),
            row(code.AUTH_GET_USER, UserHeader, self._user, lane),
            row(code.AUTH_LIST_USER, UserFilterHeader, self._users, lane),
            row(code.AUTH_CREATE_ACL, SubjectHeader, self._add_rules, lane),
            row(code.AUTH_UPDATE_ACL, SubjectHeader, self._add_rules, lane),
            row(code.AUTH_DELETE_ACL, SubjectHeader, self._delete_rules, lane),
            row(code.AUTH_GET_ACL, SubjectHeader, self._rules, lane),
            row(code.AUTH_LIST_ACL, RightsFilterHeader, self._all_rules, lane),
        ]

    @property
    def _table(self) -> AccessTable:
        return self._store.accounts.table

    # Users.

    def _create_user(self, request: Request, header: UserHeader) -> None:
        user = decode_user_change(header.username, request.body)
        asker = self._asker(request)
        known = self._table.users.get(user.name)
        may_be_there = self._is_slave or self._asked_by(request) is not None
        if may_be_there and known is not None and known.password == user.password:
            self._change(request, lambda table: table.with_changed_user(user, asker(table)))
        else:
            self._change(request, lambda table: table.with_user(user, asker(table)))

    def _update_user(self, request: Request, header: UserHeader) -> None:
        user = decode_user_change(header.username, request.body)
        asker = self._asker(request)
        self._change(request, lambda table: table.with_changed_user(user, asker(table)))

    def _delete_user(self, request: Request, header: UserHeader) -> None:
        asker = self._asker(request)
        self._change(request, lambda table: table.without_user(header.username, asker(table)))

    def _user(self, request: Request, header: UserHeader) -> Answer:
        if not header.username.strip():
            return Answer(ResponseCode.INVALID_PARAMETER, "The username is blank")
        user = self._table.users.get(header.username)
        return Answer(body=b"" if user is None else encode_user(_shown(user)))

    def _users(self, request: Request, header: UserFilterHeader) -> Answer:
        users = self._table.users
        found = [_shown(users[name]) for name in sorted(users) if (header.filter or "") in name]
        return Answer(body=encode_users(found) if found else b"")

    # Rules.

    def _add_rules(self, request: Request, header: SubjectHeader) -> Answer | None:
        try:
            name = subject_name(header.subject)
        except AccessRefused as refused:
            return _refusal(refused)
        rights = decode_rights(request.body)
        if rights is None:
            return Answer(ResponseCode.SYSTEM_ERROR, "The body of acl is null")
        self._change(request, lambda table: table.with_rules(name, rights.rules))
        return None

    def _delete_rules(self, request: Request, header: SubjectHeader) -> Answer | None:
        try:
            name = subject_name(header.subject)
        except AccessRefused as refused:
            return _refusal(refused)
        policy, resource = header.policy_type or "", header.resource or ""
        self._change(request, lambda table: table.without_rules(name, policy, resource))
        return None

    def _rules(self, request: Request, header: SubjectHeader) -> Answer:
        try:
            name = subject_name(header.subject)
        except AccessRefused as refused:
            return _refusal(refused)
        if name not in self._table.users:
            return Answer(ResponseCode.NO_PERMISSION, "The subject is not exist.")
        rights = self._table.rights_of(name)
        return Answer(body=b"" if rights is None else encode_rights(rights))

    def _all_rules(self, request: Request, header: RightsFilterHeader) -> Answer:
        """Rules of subjects that have the one text, for resources that have the other."""
        subject, resource = header.subject_filter or "", header.resource_filter or ""
        found = []
        for name in sorted(self._table.rules):
            rights = self._table.rights_of(name)
            if rights is None or subject not in rights.subject:
                continue
            rules = tuple(rule for rule in rights.rules if resource in rule.resource)
            if rules:
                found.append(Rights(f"{SUBJECT_PREFIX}{name}", rules))
        return Answer(body=encode_rights_list(found) if found else b"")

    def _asked_by(self, request: Request) -> str | None:
        """Who asked the member that has handed a request on; None: nobody has."""
        user = request.user
        is_handed_on = user is not None and user.name == self._inner
        return request.command.ext_fields.get(ASKED_BY) if is_handed_on else None

    def _asker(self, request: Request) -> Callable[[AccessTable], User | None]:
        """Looks up the user who wants a change. AccessRefused: there is none of that name here."""
        user, name = request.user, self._asked_by(request)

        def find(table: AccessTable) -> User | None:
            if name is None:
                return user
            if name not in table.users:
                raise AccessRefused("The user who asks is not exist")
            return table.users[name]

        return find

    def _change(self, request: Request, change: Callable[[AccessTable], AccessTable]) -> None:
        def done(error: BaseException | None) -> None:
            if isinstance(error, AccessRefused):
                request.answer(_refusal(error))
            elif error is None:
                request.answer(_OK)
            else:
                request.answer_when_saved(error)

        self._store.change(change, done)


def refusing_rows() -> list[Row]:
    """The rows of a broker without users."""

    def refuse(request: Request, header: NoHeader) -> Answer:
        return Answer(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, NO_USERS)

    return [row(code, NoHeader, refuse, Lane.ADMIN) for code in CODES]


def _shown(user: User) -> User:
    """A user as answers have it: without its password."""
    return User(user.name, "", user.kind, user.is_enabled)


def _refusal(refused: AccessRefused) -> Answer:
    return Answer(refused.code, refused.message)
