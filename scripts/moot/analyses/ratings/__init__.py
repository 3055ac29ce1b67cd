"""Ratings of debaters: models that debate each other in a tournament."""
