"""Explanations why a message or a group is not consumed: facts → causes, with the next command."""
