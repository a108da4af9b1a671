"""Contents of panes and screens: pure functions from exchanges, parts and findings to lines. They know no widget."""
