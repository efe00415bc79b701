"""The wire protocol and the record format: bytes ⇄ frame ⇄ command, and bytes ⇄ record. No I/O."""
