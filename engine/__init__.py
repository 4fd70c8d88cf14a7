"""Skills, worlds, agents and training. Never talks to a foundation model."""
