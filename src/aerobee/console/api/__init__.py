"""Actions of the console's pages, a module for each page."""
