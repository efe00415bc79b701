"""Bytes ⇄ frame ⇄ command, and bytes ⇄ record. Sans-IO: nothing here knows a socket or a file."""
