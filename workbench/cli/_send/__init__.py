"""Parts of the commands that send requests: consent, corrections, results, report."""
