"""The same core on a pretend world. Imported by tests and simulations, never by the product."""
