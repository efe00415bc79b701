"""The timer: stores messages with a delivery time, keeps them in the timer wheel, delivers or
recalls them.

put with TIMER_* ──▶ rmq_sys_wheel_timer, queue 0 ──▶ wheel and log ──▶ when due ──▶ REAL_TOPIC
                     (message writer, acceptance)     (enqueue)         (dequeue)    REAL_QID

Every message with a delivery time enters by `MessageWriter.put`: a client's, a committed
transaction's, the broker's own. It has TIMER_DELIVER_MS (or TIMER_DELAY_MS, TIMER_DELAY_SEC); if
that time is past it is stored in its own topic at once. A time too far ahead raises MessageIllegal.

Used by other rooms, of `timers.Timers`:

    behind_ms(now: Now) -> int      how late deliveries are: 0 if all that was due a tick ago is in
                                    its queue; grows while the timer catches up after a start
    precision_ms: int               a tick. A message is delivered at most so much after its time,
                                    and never before it
    is_enabled: bool                off: `MessageWriter.put` refuses timed messages (TimerDisabled)
"""
