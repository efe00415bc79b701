"""The machine's random numbers, for elections: two candidates must not stand up at the same moment
for ever.
"""

import secrets


class SystemEntropy:
    """A `ports.entropy.Entropy`."""

    def below(self, limit: int) -> int:
        return secrets.randbelow(limit)
