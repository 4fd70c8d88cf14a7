"""The SHARP language: a small, pure subset of Python that is parsed and compiled, and never executed.

``program.parse_program`` turns text into a frozen operation graph or a refusal; ``emit.predicates`` turns the graphs of
an archive into one JAX function; ``route`` is the transition operator; ``vet`` answers the Vet effect. ``callables``
holds the functions that programs call, ``explaining`` tells verdicts to people, ``other_forms`` are flat programs and
policies.
"""
