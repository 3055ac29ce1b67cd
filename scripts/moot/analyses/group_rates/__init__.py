"""Error rates by group: whether verdicts about people of different groups err alike."""
