"""What an experiment can ask for and what can happen to it: data only, one file per effect with its outcome."""
