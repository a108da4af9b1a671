"""Parts of ``workbench check``: the files it goes through, what it found in each, and the forms it prints."""
