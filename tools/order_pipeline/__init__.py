"""The whole case in one command: an order database, captured, counted on Spark, and copied."""
