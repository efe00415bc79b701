"""Transactions: half messages, which consumers see only after their producer commits them.

    send with TRAN_MSG ──▶ RMQ_SYS_TRANS_HALF_TOPIC, queue 0                        the half message
    END_TRANSACTION ─┬─ commit: the real message into its topic ─▶ safe ─▶ ┐
                     └─ roll back ───────────────────────────────────────▶ ┴─▶ op record
    neither: a producer of the group is asked (check-back); after 15 times the half is given up

Open half messages are kept in memory (`open_halves`) and found again at a start from the two queues
(`open_half_recovery`); the offsets from which the queues must be read are saved as RocketMQ saves
them, as offsets of CID_RMQ_SYS_TRANS. Formats and reasons: docs/formats/transactions.md.
"""
