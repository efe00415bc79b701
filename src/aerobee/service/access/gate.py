"""Gate: decides whether a request may reach its handler. Brokers and name servers ask it, in one
place, before they dispatch.

    signature of a known, enabled user ─▶ rules for all that the request touches ─▶ handler
        └─ NO_PERMISSION                       └─ NO_PERMISSION

Whoever guesses gets slower: after ten wrong signatures in a second from one address, only users who
have signed on their connection before are looked at, until the address has a token again.

A realm is the users and rules of one broker, with the name of its cluster. A broker has its own; a
name server has those of all brokers that told it, and lets pass what one of them would.
"""

import hmac
from collections.abc import Callable, Sequence
from typing import NamedTuple

from aerobee.errors import AerobeeError
from aerobee.model.access import SUBJECT_PREFIX, Credentials
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.signature import STAMP
from aerobee.protocol.request_codes import request_name
from aerobee.protocol.response_codes import RETRY_AFTER, ResponseCode
from aerobee.service.access.accounts import Account, Accounts
from aerobee.service.access.audit import Audit
from aerobee.service.access.authentication import SignatureCheck, user_name
from aerobee.service.access.call_signature import CallSignature
from aerobee.service.access.config import AccessConfig
from aerobee.service.access.request_rights import (
    RIGHTS,
    Asked,
    Check,
    RequestRight,
    cluster_facts,
    consumed,
)
from aerobee.service.access.request_stamps import RequestStamps
from aerobee.service.access.token_bucket import TokenBuckets
from aerobee.service.request import Answer, Request

_NO_NAME = "username cannot be null."
_WRONG = "check signature failed."
FAILURES_PER_SECOND = 10
"""Wrong signatures from one address."""
_OF_NOBODY = "nobody has this password"
_UNREADABLE = "parse authorization context error."


_NOBODY: frozenset[str] = frozenset()


class Realm(NamedTuple):
    cluster: str
    accounts: Accounts


class _Trust(NamedTuple):
    """A signature that was right, on a connection that is trusted for a while."""

    until_ms: int
    accounts: Sequence[tuple[Realm, Account]]
    epochs: Sequence[int]


def no_topics(log_offset: int) -> str | None:
    """A name server has no messages."""
    return None


class Gate:
    def __init__(
        self,
        config: AccessConfig,
        realms: Callable[[], Sequence[Realm]],
        topic_at: Callable[[int], str | None] = no_topics,
        audit: Audit | None = None,
    ) -> None:
        """`audit` is told of every request that does not pass."""
        self._config = config
        self._audit = audit
        self.realms = realms
        self._topic_at = topic_at
        self.stamps = RequestStamps()
        self._failures = TokenBuckets(FAILURES_PER_SECOND)
        self.failed = 0
        """Wrong signatures, since the start."""
        # Users who have signed on an open connection.
        self._signed_in: dict[ChannelId, set[str]] = {}
        self._called_in: dict[int, set[str]] = {}
        self._trusted: dict[ChannelId, dict[str, _Trust]] = {}

    @property
    def is_open(self) -> bool:
        """Whether nobody is asked who it is."""
        return not self._config.authenticates

    @property
    def inner(self) -> Credentials | None:
        """The user that the process signs its own requests with."""
        return self._config.inner

    def refuse(
        self, request: Request, source: str, signature: CallSignature | None = None
    ) -> Answer | None:
        """The answer to a request that must not be handled; None: it may. The request learns its
        user. `source` is the address that it came from; `signature`, if the request is a call of
        gRPC, its signature."""
        if not self._config.authenticates:
            return None
        refusal = self._refused(request, source, signature)
        return self._told(refusal, request, source, signature)

    def refuse_stranger(
        self,
        request: Request,
        source: str,
        signature: CallSignature,
        connection: int,
    ) -> Answer | None:
        """The answer to a call of gRPC that nobody signed rightly; None: it may be read. What it
        touches is not looked at: the `request` has its code alone."""
        config = self._config
        if not config.authenticates or request.command.code in config.unsigned_codes:
            return None
        name = signature.name
        is_known = name in self._called_in.get(connection, _NOBODY)
        found = self._signed(name, signature, source, request.now.monotonic_ms, is_known=is_known)
        if isinstance(found, Answer):
            return self._told(found, request, source, signature)
        if not is_known:
            self._called_in.setdefault(connection, set()).add(name)
        return None

    def _told(
        self,
        refusal: Answer | None,
        request: Request,
        source: str,
        signature: CallSignature | None,
    ) -> Answer | None:
        """The refusal, once the audit trail has it."""
        if refusal is not None and self._audit is not None:
            claimed = "" if signature is None else signature.name
            self._audit.refused(request, source, refusal, claimed)
        return refusal

    def _refused(
        self, request: Request, source: str, signature: CallSignature | None
    ) -> Answer | None:
        config = self._config
        code = request.command.code
        known: Sequence[tuple[Realm, Account]] = ()
        if code not in config.unsigned_codes:
            if signature is None:
                found = self._authenticated(request, source)
            else:  # of a call that `refuse_stranger` let pass: nobody guesses here
                now_ms = request.now.monotonic_ms
                found = self._signed(signature.name, signature, source, now_ms, is_known=True)
            if isinstance(found, Answer):
                return found
            stamp = request.command.ext_fields.get(STAMP)
            if stamp is not None:
                fault = self.stamps.find_fault(stamp, code, request.channel, request.now)
                if fault is not None:
                    return _refusal(f"{_WRONG} {fault}")
            known = found
            request.user = known[0][1].user
        right = RIGHTS.get(code)
        if right is None:
            return Answer(
                ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
                f"request type {code} not supported: no rule says who may send "
                f"{request_name(code)}",
            )
        if not config.authorizes or code in config.unruled_codes:
            return None
        if not known:
            return _refusal(_NO_NAME)
        return self._unauthorised(request, known, right, source)

    def lets_look(self, name: str, password: str, source: str, now_ms: int) -> bool:
        """Whether a user with this password, from an address, may see what monitoring shows: one
        who may get facts of the cluster."""
        if not self._config.authenticates:
            return True
        if self._failures.wait_ms(source, now_ms):
            return False
        known = []
        for realm in self.realms():
            account = realm.accounts.find(name)
            secret = _OF_NOBODY if account is None else account.user.password
            is_right = hmac.compare_digest(secret.encode(), password.encode("utf-8", "replace"))
            if is_right and account is not None and account.user.is_enabled:
                known.append((realm, account))
        if not known:
            self.failed += 1
            self._failures.take(source, 1, now_ms)
        return any(
            self._denied(account, cluster_facts(realm.cluster), source) is None
            if self._config.authorizes
            else True
            for realm, account in known
        )

    def knows(self, signature: CallSignature, source: str, now_ms: int) -> bool:
        """Whether a call of gRPC is a user's; or nobody is asked who it is."""
        if not self._config.authenticates:
            return True
        return not isinstance(self._signed(signature.name, signature, source, now_ms), Answer)

    def refuse_consumer(
        self, request: Request, source: str, topic: str, group: str
    ) -> Answer | None:
        """The answer to a request that passed, waits for messages, and would not pass now; None: it
        may go on. Its fields are forgotten: `topic` and `group` are what it reads, and as whom."""
        if request.user is None:
            return None
        refused: Answer | None = _refusal(_WRONG)
        for realm in self.realms():
            account = realm.accounts.find(request.user.name)
            if account is not None and account.user.is_enabled:
                checks = consumed(topic, group) if self._config.authorizes else []
                refused = self._denied(account, checks, source)
                if refused is None:
                    return None
        return refused

    def forget(self, channel: ChannelId) -> None:
        """A connection is closed."""
        self._trusted.pop(channel, None)
        self._signed_in.pop(channel, None)

    def forget_calls(self, connection: int) -> None:
        """A connection of gRPC is closed."""
        self._called_in.pop(connection, None)

    # Whose signature it is.

    def _authenticated(
        self, request: Request, source: str
    ) -> "Sequence[tuple[Realm, Account]] | Answer":
        """The accounts whose signature it is, in each realm that has one; at least one."""
        name = user_name(request.command.ext_fields)
        if not name:
            return _refusal(_NO_NAME)
        if self._config.trusts_connections:
            trust = self._trusted.get(request.channel, {}).get(name)
            if trust is not None and self._still_holds(trust, request.now.monotonic_ms):
                return trust.accounts
        now_ms = request.now.monotonic_ms
        is_known = name in self._signed_in.get(request.channel, _NOBODY)
        check = SignatureCheck(request.command, request.body)
        enabled = self._signed(name, check, source, now_ms, is_known=is_known)
        if isinstance(enabled, Answer):
            if enabled.code is ResponseCode.NO_PERMISSION:
                check.spend(len(self.realms()))
            return enabled
        if not is_known:
            self._signed_in.setdefault(request.channel, set()).add(name)
            request.welcome()
        if self._config.trusts_connections:
            self._trusted.setdefault(request.channel, {})[name] = _Trust(
                now_ms + self._config.trust_ms,
                enabled,
                [realm.accounts.epoch for realm, _ in enabled],
            )
        return enabled

    def _signed(
        self,
        name: str,
        check: SignatureCheck | CallSignature,
        source: str,
        now_ms: int,
        *,
        is_known: bool = False,
    ) -> "Sequence[tuple[Realm, Account]] | Answer":
        """The accounts of a name whose signature it is, in each realm; at least one. `is_known`:
        it has signed on its connection before, and is not slowed down by what others get wrong."""
        if not name:
            return _refusal(_NO_NAME)
        wait_ms = 0 if is_known else self._failures.wait_ms(source, now_ms)
        if wait_ms:
            return _slowed(wait_ms)
        signed = []
        for realm in self.realms():
            account = realm.accounts.find(name)
            if check.is_of(None if account is None else account.user.password) and account:
                signed.append((realm, account))
        if not signed:
            self.failed += 1
            self._failures.take(source, 1, now_ms)
            return _refusal(_WRONG)
        enabled = [(realm, account) for realm, account in signed if account.user.is_enabled]
        if not enabled:
            return _refusal(f"{SUBJECT_PREFIX}{name[:255]} is disabled.")
        return enabled

    def _still_holds(self, trust: _Trust, now_ms: int) -> bool:
        return now_ms < trust.until_ms and all(
            realm.accounts.epoch == epoch
            for (realm, _), epoch in zip(trust.accounts, trust.epochs, strict=True)
        )

    # What it may do.

    def _unauthorised(
        self,
        request: Request,
        known: Sequence[tuple[Realm, Account]],
        right: RequestRight,
        source: str,
    ) -> Answer | None:
        refused: Answer | None = None
        for realm, account in known:
            refused = self._refused_in(realm, account, request, right, source)
            if refused is None:
                return None
        return refused

    def _refused_in(
        self, realm: Realm, account: Account, request: Request, right: RequestRight, source: str
    ) -> Answer | None:
        if account.is_super:
            return None
        name = account.user.name
        who = f"{SUBJECT_PREFIX}{name[:255]} has no permission to access"
        if right.is_inner:
            inner = self._config.inner
            if inner is not None and inner.access_key == name:
                return None
            return _refusal(f"{who} {request_name(request.command.code)}: only brokers may.")
        asked = Asked(request.command.ext_fields, request.body, realm.cluster, self._topic_at)
        try:
            checks = right.checks(asked)
        except AerobeeError:
            return _refusal(_UNREADABLE)
        return self._denied(account, checks, source)

    def _denied(self, account: Account, checks: Sequence[Check], source: str) -> Answer | None:
        if account.is_super:
            return None
        who = f"{SUBJECT_PREFIX}{account.user.name[:255]} has no permission to access"
        for resource, actions in checks:
            verdict = account.verdict(resource, actions, source)
            if not verdict.is_allowed:
                why = "no matched policies." if verdict.rule is None else "the decision is deny."
                return _refusal(f"{who} {str(resource)[:300]} from {source}, {why}")
        return None


def _refusal(remark: str) -> Answer:
    return Answer(ResponseCode.NO_PERMISSION, remark)


def _slowed(wait_ms: int) -> Answer:
    return Answer(
        ResponseCode.FLOW_CONTROL,
        f"too many failed log-ins from this address: try again in {wait_ms} ms",
        {RETRY_AFTER: str(wait_ms)},
    )
