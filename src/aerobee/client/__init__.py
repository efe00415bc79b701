"""The client: `connect` for asyncio, its synchronous facade, the admin client and `App`."""
