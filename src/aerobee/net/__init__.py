"""Sockets ⇄ bytes: the only code that knows asyncio transports."""
