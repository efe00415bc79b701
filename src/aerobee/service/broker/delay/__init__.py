"""Delayed messages: the levels, their queues, and how far each was delivered.

send with DELAY ──▶ SCHEDULE_TOPIC_XXXX, queue level−1 ──▶ when due ──▶ REAL_TOPIC, REAL_QID
                    (intake)                              (here)
"""
