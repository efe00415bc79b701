"""Access to the commit log, shared by all features: writing messages, reading cold ones."""
