"""What families of rules share: the context of a check, findings that are carried on, refusals, histories, wording."""
