"""Slow, obvious twins of what is fast."""
