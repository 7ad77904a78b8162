"""Where blocks of work are done beside this process: processes of this machine, a Ray cluster, a Slurm cluster.

Reading order (each file imports only those named before it):

    options    `--engine` and what it means, and who works there
    contract   a job: what is sent, and what is done with it
    processes  processes of this machine
    ordered    results in the order of the blocks, from whoever has time
    on_ray     actors of a Ray cluster
    on_slurm   job arrays of a Slurm cluster

`swag_af.data.scale` chooses. Importing this package loads nothing else.
"""
