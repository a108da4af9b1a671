"""Contents of parts that are named by their key (``functionCall``, ``inlineData``)."""
