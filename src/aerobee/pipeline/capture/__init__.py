"""Changes of a database's rows as messages: a snapshot of its tables, then its binary log.

    database ─▶ snapshot │ binary log ─▶ changes ─▶ envelopes ─▶ a topic for each table
                                              └─▶ position ─▶ a topic of the capture's own

Envelopes, keys, positions and schemas are values and know no database; `docs/capture.md` is for
people, `docs/formats/capture.md` for programs.
"""
