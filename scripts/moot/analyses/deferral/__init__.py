"""Deferral: which cases would have to go to a person so that the rest is seldom wrong."""
