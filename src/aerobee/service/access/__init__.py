"""Access: who may ask for what. Shared by brokers and name servers.

    request ─▶ gate ─▶ authentication: whose signature is it?
                  └──▶ request_rights: which resources and actions? ─▶ accounts: is it allowed?

A request passes the gate before its handler sees it, on every port and in every way.

Laws.
- A request code without a row in `request_rights` is refused, whoever asks.
- The same fields of the same header that a handler reads are the ones that are checked.
- Whatever was decided once is decided anew when a user or a rule changes (`Accounts.epoch`).
- A secret leaves this room only sealed (`sealing`), and never in a remark, a repr or a log line.
"""
