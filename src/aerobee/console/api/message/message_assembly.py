"""The assembly of the pages about messages: each gets what it needs, and gives its actions.

They work on single messages; pages of topics and groups, which count them, are beside this room.
"""

from aerobee.console.api.equipment import Equipment
from aerobee.console.api.message.dead_letters import DeadLetterPages
from aerobee.console.api.message.delayed import DelayedPages
from aerobee.console.api.message.explanations import ExplanationPages
from aerobee.console.api.message.lookups import LookupPages
from aerobee.console.api.message.messages import MessagePages
from aerobee.console.api.message.transactions import TransactionPages
from aerobee.console.http.action import Action


def message_actions(have: Equipment) -> tuple[Action, ...]:
    """Return the actions of the pages about messages."""
    admin, catalogue, wall_ms = have.admin, have.catalogue, have.wall_ms
    pages = (
        MessagePages(admin, catalogue, wall_ms),
        LookupPages(admin, catalogue, have.sampler),
        ExplanationPages(admin, wall_ms),
        DeadLetterPages(admin, catalogue, wall_ms),
        TransactionPages(admin, catalogue, wall_ms),
        DelayedPages(admin, catalogue, wall_ms),
    )
    return tuple(action for page in pages for action in page.actions())
