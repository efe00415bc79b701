"""A private database server for trying out pipelines."""
