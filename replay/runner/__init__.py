"""The one interpreter of effects: run, resume, decide, strict and forced replay."""
