"""Labels of what judges said: sheets for people, a model that labels, and how far they agree."""
