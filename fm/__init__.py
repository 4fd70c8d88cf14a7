"""Access to foundation models: roles and prompts, transports, parsing, budgets. Never imports jax."""
