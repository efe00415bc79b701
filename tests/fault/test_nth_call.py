"""The n-th disk call of a store's life fails, for every n."""
