"""Why a message was not consumed, and what a group does: facts → causes, with what to do next."""
