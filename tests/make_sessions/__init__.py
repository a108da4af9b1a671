"""The example sessions in ``sessions/``: ours, after published failures and wire formats.

    python -m tests.make_sessions

Each tells one story; ``tests/test_examples.py`` says what ``check`` has to find in it.
"""
