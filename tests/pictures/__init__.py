"""Pictures of the app on its example sessions: ``python -m tests.pictures`` takes them again."""
