"""Decides whether a subscription matches a message, by tags or SQL92 condition, as a broker would.

A condition on a property that the message does not have does not match.
"""

from aerobee.model.message import StoredMessage
from aerobee.model.properties import encode_properties
from aerobee.model.subscription import Subscription
from aerobee.service.filters.sql_compiler import compile_sql
from aerobee.service.filters.sql_lexer import BadExpression


def find_reason_against(subscription: Subscription, message: StoredMessage) -> str | None:
    """Return why a message does not match; None: it does."""
    if subscription.is_by_tag:
        if not subscription.tags or message.tag in subscription.tags:
            return None
        has = f"its tag is {message.tag!r}" if message.tag else "it has no tag"
        return f"{has}, wanted is {subscription.expression!r}"
    try:
        condition = compile_sql(subscription.expression)
    except BadExpression as error:
        return f"the condition {subscription.expression!r} is none: {error.message}"
    if condition.matches_text(encode_properties(message.properties)):
        return None
    return f"its properties do not fulfil {subscription.expression!r}"
