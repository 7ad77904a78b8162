"""Table 3 of Zellers et al. 2018 for any dataset: how far models get that read parts of it, or all.

Reading order (each file imports only those named before it):
"""
