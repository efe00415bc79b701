"""Values that applications see: messages, receipts and options. Nothing here runs."""
