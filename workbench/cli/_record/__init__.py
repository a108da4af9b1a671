"""Parts of ``workbench record`` and of the commands that run another program."""
