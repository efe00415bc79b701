"""Values that applications use: messages, receipts and options. They do no I/O."""
