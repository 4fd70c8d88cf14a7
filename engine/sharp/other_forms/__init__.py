"""The forms beside skills: flat reward programs and policies in code, read by the same compiler."""
