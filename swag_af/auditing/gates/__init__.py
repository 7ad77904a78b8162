"""The conditions that a dataset must meet, whether it does, and reports for continuous integration.

Reading order (each file imports only those named before it):

    conditions  one condition of a gate
    gate        the conditions that a dataset must meet, and whether it does
    junit       an audit or a gate as JUnit XML
    sarif       an audit or a gate as SARIF, for code scanning

Importing this package loads nothing else.
"""
