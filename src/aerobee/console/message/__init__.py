"""Messages as the console shows them: rows, bodies, filters, searches, exports."""
