"""The bundled sample: short captions of made-up videos, from a seeded grammar. It is synthetic.

Reading order (each file imports only those named before it):

    scenes   its word tables, loaded from scenes.toml
    trees    trees, inflection, and what follows from a tree
    grammar  seeded captions with gold trees and tags

Importing this package loads nothing else.
"""
