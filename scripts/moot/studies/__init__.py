"""Studies, found by name: a folder for each paper.

A folder has the paper's data sets, protocols, scores, tables and figures.
"""
