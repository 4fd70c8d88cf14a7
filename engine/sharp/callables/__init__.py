"""The functions that a program may call: Python's own few, those of ``jnp`` and ``jax.lax``, and array methods."""
