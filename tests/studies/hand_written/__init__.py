"""What routing by T buys: a hand-written chain of skills on Craftax-Classic, trained and evaluated in four arms.

The skills are a test fixture: no foundation model ever sees them.
"""
