"""The places of CODE-SHARP in which a foundation model is asked: what each is shown and what it must return.

Each role is a module with ``ask``, which builds the call, and (``repair`` apart) ``read``, which turns the reply into a
value or into a ``Fault`` whose reason goes back to the model. Both are pure; ``read`` never raises.
"""
