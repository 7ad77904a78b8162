"""Annotation on other platforms: tasks are exported, replies imported.

Reading order (each file imports only those named before it):

    tasks  what leaves for people elsewhere and what comes back: tasks, the key, replies
    csv    tasks and replies in tables: CSV, Prolific, MTurk
    forms  forms of platforms that want one: Label Studio, MTurk's page
    verb   the verbs `verify export` and `verify import`

Importing this package loads nothing else.
"""
