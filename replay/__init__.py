"""Composes ledger, fm and engine: command line, loops, runner, reproduction and audit."""
