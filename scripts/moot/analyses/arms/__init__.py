"""Control arms: what does debate add, and what sways a judge?"""
