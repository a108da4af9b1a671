"""The law of siblings: what a rule finds on one protocol, it finds on every protocol that can have the fault.

``wires`` writes one and the same conversation on each wire, ``faults`` writes the fault of each rule into it. A wire
that cannot have a fault, and one on which it is not found yet, are holes, each with its reason.
"""
