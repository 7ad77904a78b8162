"""Files and folders: where they are, what they must hold, and how they are written whole.

Reading order (each file imports only those named before it):

    cache      the folder for what may be had again
    records    typed records: what manifests and lines of JSON must contain
    urls       addresses in object stores, the folders that stand for them, and commands to paste
    replacing  files and folders that are whole or not there: written aside and renamed
    files      readers with good errors, logs, writers of texts, JSON and arrays
    manifests  what folders of ours say of themselves: manifests, hashes

Importing this package loads nothing else.
"""
