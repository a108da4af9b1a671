"""A protocol of a third party: the package ``telegraph``, and the metadata that an installation would write."""
