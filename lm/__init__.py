"""Language models and what they make: training, sampling of candidate endings, perplexity features, pools.

Reading order, each file importing only those before it: `options`, `network`, `corpus`, `store`, `train`,
`sample`, `features`, `generate`. Importing this package imports no torch.
"""
