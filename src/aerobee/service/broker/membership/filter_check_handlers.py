"""CHECK_CLIENT_CONFIG: checks a consumer's filter before it starts.

So a wrong filter fails there, with the position of the mistake, and not at every pull.
"""

from aerobee.protocol.bodies.subscription import decode_subscription_check
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.subscription_filter import SubscriptionFilters
from aerobee.service.request import OK, Answer, Request


class FilterCheckHandlers:
    def __init__(self, subscription_filters: SubscriptionFilters) -> None:
        self._subscription_filters = subscription_filters

    def rows(self) -> list[Row]:
        return [row(RequestCode.CHECK_CLIENT_CONFIG, NoHeader, self._check, Lane.CLIENT)]

    def _check(self, request: Request, header: NoHeader) -> Answer:
        check = decode_subscription_check(request.body)
        choice = self._subscription_filters.of(check.group, check.subscription)
        return choice if isinstance(choice, Answer) else OK
