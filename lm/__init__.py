"""Language models and what they make: training, sampling of candidate endings, perplexity features, pools.

Reading order, each file importing only those before it: `options`, `gradients`, `network`, `corpus`,
`books`, `store`, `train`, `reader`, `sample`, `features`, `candidates`, `generate`, `estimate`, `lazy`.
Importing this package imports no torch.
"""
