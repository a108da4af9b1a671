"""Configuration: safe YAML, and the files that ship with Workbench together with the user's own.

In: untrusted YAML text, and names of resources. Out: plain data (JSON types and bytes), and paths of resources in a
checkout, a wheel or the user's folders. It may import the core alone.
"""
