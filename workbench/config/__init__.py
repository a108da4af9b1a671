"""Configuration: safe YAML, and the files that ship with Workbench together with the user's own.

In: text of a YAML file that nobody vouches for, and names of resources. Out: plain data (what JSON can say, and bytes),
and the paths of resources in a checkout, a wheel or the user's folders. It may import the core alone.
"""
