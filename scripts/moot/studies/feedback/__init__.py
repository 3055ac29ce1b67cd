"""Tables and figures of Debate-Feedback."""
