"""Training: routed rollouts, proximal policy optimisation, and the core that performs Train and Evaluate."""
