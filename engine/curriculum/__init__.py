"""Curriculum mathematics: pure functions over integers and exact numbers, equation numbers beside the code."""
