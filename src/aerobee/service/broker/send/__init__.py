"""The send room: stores messages that clients send and answers them, on a fast and a general path.

fast_send, send_diversion   the fast path; delayed, timed and half messages on it
send_handlers, send_checks  the general path
send_once                   sends with a producer mark, stored at most once
reply_handlers              replies of the request-reply pattern
send_back_handlers          messages that consumers return for a retry
send_path                   answers, held until the disk has the messages (SYNC_FLUSH)
"""
