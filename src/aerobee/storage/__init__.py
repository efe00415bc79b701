"""The store: commit → dispatch → index → read. No asyncio, no threads, no clock of its own."""
