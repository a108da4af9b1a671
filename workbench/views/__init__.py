"""Views: what the command line and the app both say, as lines of styled text that know no screen.

In: findings, verdicts, losses, damage, outcomes and other values of the rooms above. Out: lines for people
(``views.lines``), which the app paints and the command line prints as text. It may import the core and the rooms up to
``recorder``.
"""
