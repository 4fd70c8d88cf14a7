"""Verdicts for people: a refusal at its place in the author's text, a program with what it does and where it holds."""
