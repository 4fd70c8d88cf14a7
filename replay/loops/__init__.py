"""Experiment loops: pure generators of effects. No clock, network, randomness, file or device in here."""
