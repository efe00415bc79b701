"""The admin client: one typed method for each administration request."""
