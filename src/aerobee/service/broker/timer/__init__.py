"""Messages for an exact time: accepted, kept in the wheel, delivered, taken back.

put with TIMER_* ──▶ rmq_sys_wheel_timer, queue 0 ──▶ wheel and log ──▶ when due ──▶ REAL_TOPIC
                     (intake, acceptance)             (enqueue)        (delivery)    REAL_QID

Every message that waits for a time enters by `Intake.put`: a client's, a committed transaction's,
the broker's own. It carries TIMER_DELIVER_MS (or TIMER_DELAY_MS, TIMER_DELAY_SEC); if that time has
come already it is stored where it says at once. A time too far ahead raises MessageIllegal.

What others rely on, of `timers.Timers`:

    behind_ms(now: Now) -> int      how late deliveries are: 0 if all that was due a tick ago is in
                                    its queue; grows while the timer catches up after a start
    precision_ms: int               a tick. A message is delivered at most so much after its time,
                                    and never before it
    is_enabled: bool                off: `Intake.put` refuses what waits for a time (TimerDisabled)
"""
