"""The views of ``workbench show``, one module each."""
