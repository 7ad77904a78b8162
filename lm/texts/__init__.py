"""Pools of texts: what any generator writes for a file of contexts, kept context by context, and made a pool.

Reading order (each file imports only those named before it):

    settings  what a generator is given of what the verb knows
    journal   answers on disk, one a line, flushed before the next
    plan      which contexts are asked about, by which generator, and what a folder was begun with
    outcome   what became of texts and contexts, and what to do where none has its endings
    joining   all answers to a pool
    making    answers for all contexts: `generate`, but for `lstm`
    estimate  what that would take

Importing this package loads nothing else.
"""
