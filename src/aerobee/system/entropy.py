"""The machine's random numbers."""

import secrets


class SystemEntropy:
    """An `ports.entropy.Entropy`."""

    def below(self, limit: int) -> int:
        return secrets.randbelow(limit)
