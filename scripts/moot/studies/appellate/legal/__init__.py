"""What can be read off legal text by rule: sentences, dispositions, outcomes, citations."""
