"""The whole experiment: captions to contexts, models, candidates, runs, audits, a released set, and what it all says.

    python benchmarks/experiment.py --size small --out runs/small
    python benchmarks/experiment.py --size paper --out runs/scale --encoder MINILM
    python benchmarks/experiment.py --size paper --out runs/scale --dry-run
    python benchmarks/experiment.py --size paper --out runs/scale --parts 0 --arms main mlp-only
    python benchmarks/experiment.py --size paper --out runs/scale --steps filter audit --shard 1/2   # and 2/2 beside it

Every step is a command of swag-af, or a measurement kept piece by piece; typed again, all goes on where it was. Logs
are in OUT/logs, one a step and share of the work. The last step writes OUT/results.json, figures and tables;
`--write-docs docs` puts these into docs/experiment/SIZE, and nothing that is not there. `--read SHEET --reader WHO`
reads a reader's sheet back (OUT/reading has the questions, and says how to fill it in).

What the results are made of lies in OUT/record, a small file a run: accuracies, and every audit's hits, context by
context. `--write-docs` keeps it and the logs beside the results (docs/experiment/SIZE/record); copied to OUT/record on
another machine, runs that are whole there are not made again, so that the parts can be done one by one, wherever there
is time.
"""

from experimenting.command import main

if __name__ == "__main__":
    main()
