"""Tables, figures and minutes of the decision conferences."""
