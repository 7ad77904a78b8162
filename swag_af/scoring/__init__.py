"""Scores of predictions: what models and people get right, in the terms of SWAG, VCR, VCR-CS and NLVR2.

Reading order (each file imports only those named before it):
"""
