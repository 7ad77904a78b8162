"""The slow, obvious twins of filters of two texts: one pair after another, one word after another, plain autograd."""

import torch

from swag_af.data.tokens import tokenize
from swag_af.filters.pairs.networks import DualBow, InferSentBilinear, InferSentMLP, LSTMSequence


def slow_words(text):
    """The words of each sentence; a sentence ends with a word that ends with a full stop."""
    words, sentence = [], []
    for word in text.split():
        sentence.append(word)
        if word[-1] in ".?!":
            words += tokenize(" ".join(sentence))
            sentence = []
    return [word.lower() for word in words + tokenize(" ".join(sentence))]


def slow_pairs(view, *, see_context, as_one):
    """(first words, second words) of every candidate, row by row."""
    made = []
    for i, context in enumerate(view.contexts):
        sent1 = slow_words(context.sent1) if see_context else []
        start = [view.vocabulary.tokens[k] for k in view.starts[i, : view.start_lengths[i]]]
        for j in range(view.shape[1]):
            ending = [view.vocabulary.tokens[k] for k in view.tokens[i, j, : view.lengths[i, j]]]
            if as_one:
                sides = (sent1 + start + ending, sent1 + start + ending)
            else:
                sides = (sent1, start + ending) if sent1 else (start, ending)
            made.append(tuple(side or [""] for side in sides))
    return made


def slow_vectors(lines, words):
    """The vector of each of `words`: that of its own spelling, else the first that differs in case alone."""
    table = [(line.split(" ")[0].removeprefix("/c/en/"), line.split(" ")[1:]) for line in lines]
    found = {}
    for word in words:
        same = [numbers for term, numbers in table if term == word]
        alike = [numbers for term, numbers in table if term.lower() == word.lower()]
        if same or alike:
            found[word] = [float(number) for number in (same or alike)[0]]
    return found


def slow_logits(network, first, second):
    """(O,) logits of one pair, whose sides are lists of rows of the table of word vectors."""
    u, v = (_slow_encoded(network, torch.tensor(words)) for words in (first, second))
    if isinstance(network, LSTMSequence):
        return network.head(v)
    if isinstance(network, InferSentMLP):
        return network.head(network.hidden(torch.cat([u, v, (u - v).abs(), u * v])).relu())
    assert isinstance(network, DualBow | InferSentBilinear)
    matrices = network.head.weight.view(-1, len(u), len(v))  # turned: output, column, row
    return torch.stack([v @ (matrix @ u) for matrix in matrices]) + network.head.bias


def _slow_encoded(network, words):
    vectors = network.words.table[words]  # (T, E)
    if isinstance(network, DualBow):
        return vectors.mean(0)
    return slow_bilstm_max(network.encoder, vectors)


def slow_bilstm_max(encoder, vectors):
    """A word after another, a direction at a time."""
    pooled = []
    for direction in range(2):
        inputs, recurrent, bias = (one[direction].T for one in (encoder.input, encoder.recurrent, encoder.bias))
        output = cell = torch.zeros(encoder.hidden)
        outputs = []
        for vector in vectors if direction == 0 else vectors.flip(0):
            enter, forget, leave, update = (inputs @ vector + recurrent @ output + bias[:, 0]).chunk(4)
            cell = forget.sigmoid() * cell + enter.sigmoid() * update.tanh()
            output = leave.sigmoid() * cell.tanh()
            outputs.append(output)
        pooled.append(torch.stack(outputs).amax(0))
    return torch.cat(pooled)
