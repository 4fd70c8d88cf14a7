"""The event ledger: compressed, hash-chained, append-only. Imports nothing of ours and never imports jax."""
