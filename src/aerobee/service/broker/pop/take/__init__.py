"""Popping: choosing messages of a queue, hiding them and handing them out."""
