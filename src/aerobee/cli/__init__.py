"""The command line: `aerobee NOUN VERB`."""
