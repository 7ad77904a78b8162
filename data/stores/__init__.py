"""Pools, models and runs in object stores: worked on in local mirrors, and sent as they are finished.

Reading order (each file imports only those named before it):

    remote      a folder of a store, through fsspec: list, fetch, put, delete
    mirror      its local copy: what is fetched, what is sent, and in which order
    opened      the mirrors of this process, and of a verb's options
    travelling  jobs for workers that share no disk with the caller

Names and addresses are in `swag_af.data.disk.urls`. Importing this package loads nothing else.
"""
