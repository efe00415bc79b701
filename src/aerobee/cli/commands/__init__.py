"""The nouns of the command line, a module each."""
