"""What the core may ask of the world: `typing.Protocol`s only, no code."""
