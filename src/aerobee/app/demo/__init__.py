"""Live sample topics: traffic, those who consume it, a picture of what the brokers say of it."""
