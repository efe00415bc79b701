"""Transactions: messages that are stored first and seen only when their producer says so.

    send with TRAN_MSG ──▶ RMQ_SYS_TRANS_HALF_TOPIC, queue 0                        the half message
    END_TRANSACTION ─┬─ commit: the real message into its topic ─▶ safe ─▶ ┐
                     └─ roll back ───────────────────────────────────────▶ ┴─▶ op record
    nobody says anything: a producer of the group is asked; after 15 times it is given up

What is open is known in memory (`open_halves`) and found again at a start from the two queues
(`open_finder`); how far they need not be read again is saved as RocketMQ saves it, as offsets of
CID_RMQ_SYS_TRANS. The bytes and the reasons are in docs/formats/transactions.md.
"""
