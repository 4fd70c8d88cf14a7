"""Studies: experiments on the method itself, run by hand and reported under reproductions/."""
