"""Delay levels: messages wait in a queue of the schedule topic and are delivered when they are due.

send with DELAY ──▶ SCHEDULE_TOPIC_XXXX, queue level−1 ──▶ when due ──▶ REAL_TOPIC, REAL_QID
                    (message writer)                      (here)
"""
