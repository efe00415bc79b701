"""The web console: an HTTP API over a cluster, and the pages that use it.

It knows a cluster only through the admin client, so it serves Apache's clusters, too. Nothing of
this package is imported before a console is started (docs/console.md, decision 0029).
"""
