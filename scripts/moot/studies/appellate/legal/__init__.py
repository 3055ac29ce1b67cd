"""Find sentences, dispositions, outcomes and citations in legal text by rules."""
