"""The schema lens: what a provider refuses or ignores of a tool's schema, and the smallest change that it accepts."""
