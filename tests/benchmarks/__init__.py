"""Benchmarks of the training core: ``python -m tests.benchmarks.training --help``."""
