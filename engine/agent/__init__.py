"""The policy and value networks, all behind one interface: ``engine.agent.network.build``."""
