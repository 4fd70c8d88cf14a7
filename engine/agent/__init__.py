"""The policy and value networks, both behind one interface: ``engine.agent.network.build``."""
