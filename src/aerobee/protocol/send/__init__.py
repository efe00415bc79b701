"""Send and END_TRANSACTION headers read in place, and the answer to a send on both sides."""
