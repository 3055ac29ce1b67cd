"""Habits of judges: whether verdicts follow features that say nothing about the case."""
