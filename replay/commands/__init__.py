"""One module per command: what it accepts, what it does, and what its exit code says. Heavy imports wait until then."""
