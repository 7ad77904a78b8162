"""The dataset card: its header, its sections, and the whole.

Reading order (each file imports only those named before it):

    hub           the card's YAML header, for `datasets.load_dataset`
    verification  the card's section on human verification
    style         the card's section on style, and the same for the terminal
    matching      what a card says of a matching, in place of filtering, and of its rationales
    card          the dataset card

Importing this package loads nothing else.
"""
