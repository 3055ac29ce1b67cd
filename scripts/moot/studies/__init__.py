"""Studies: a folder for each paper, with its data sets, protocols, scores, tables and figures;
found by name.
"""
