"""Tables that every run gets and the core needs: contrasts, questions, comparison, trial runs."""
