"""Ways to reach a foundation model, all behind one port."""
