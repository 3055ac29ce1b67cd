"""Simulated voices: replies by a stated statistical model."""
