"""The whole experiment: captions to contexts, models, candidates, runs, audits, a released set, and what it all says.

    python benchmarks/experiment.py --size small --out runs/small
    python benchmarks/experiment.py --size paper --out runs/scale --encoder MINILM
    python benchmarks/experiment.py --size paper --out runs/scale --dry-run
    python benchmarks/experiment.py --size paper --out runs/scale --steps generate parts
    python benchmarks/experiment.py --size paper --out runs/scale --steps filter audit --shard 1/2   # and 2/2 beside it

Every step is a command of swag-af, or a measurement kept piece by piece; typed again, all goes on where it was. Logs
are in OUT/logs, one a step; what ran, with its versions, in OUT/environment.jsonl. The last step writes
OUT/results.json, figures and tables; `--write-docs` puts these into docs/RESULTS.md, and nothing that is not there.
`--read SHEET` reads the sheet of a reader back (OUT/reading has the questions, and says how to fill it in).
"""

from experimenting.command import main

if __name__ == "__main__":
    main()
