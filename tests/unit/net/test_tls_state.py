from dataclasses import replace

import pytest

from aerobee.net.tls_config import TlsConfig, TlsMode
from aerobee.net.tls_context import BadTlsFile
from aerobee.net.tls_state import TlsState
from tests.tls_kit import server_config


def test_contexts_are_those_that_the_mode_needs() -> None:
    none = TlsState(TlsConfig())
    assert (none.service, none.links, none.outgoing, none.allows_plain) == (None, None, None, True)
    assert none.pages is None
    disabled = TlsState(server_config(mode=TlsMode.DISABLED))  # whatever else is set
    assert (disabled.service, disabled.links, disabled.outgoing) == (None, None, None)
    permissive = TlsState(server_config(mode=TlsMode.PERMISSIVE))
    assert permissive.service is not None
    assert (permissive.outgoing, permissive.allows_plain) == (None, True)
    enforcing = TlsState(server_config())
    assert enforcing.outgoing is not None
    assert not enforcing.allows_plain


@pytest.mark.parametrize("file", ["certificate", "authority", "outgoing_authority"])
def test_files_that_cannot_be_used_change_nothing(file: str) -> None:
    state = TlsState(server_config())
    service = state.service
    state.load()
    assert state.service is not service
    state.config = replace(state.config, **{file: "/nowhere"})  # type: ignore[arg-type]
    before = (state.service, state.links, state.outgoing)
    with pytest.raises(BadTlsFile):
        state.load()
    assert (state.service, state.links, state.outgoing) == before
