"""A message beside named events (``content-delta``, ``tool-call-start``)."""
