"""JSON Schemas of tools: parts that a dialect refuses or ignores, and the smallest change that it accepts.

In: a tool's schema and a dialect (data from a contract). Out: faults place by place, the down-levelled schema with the
mapping of values back to the original, and whether a value fits a schema, with bounded work. It may import what
``toolcalls`` may.
"""
