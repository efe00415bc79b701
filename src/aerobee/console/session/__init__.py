"""Sessions of the console: roles, accounts, log-ins, and the record of what was done."""
