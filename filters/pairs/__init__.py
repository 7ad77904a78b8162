"""Filters that read two texts: what comes first on one side, the rest on the other.

Reading order (each file imports only those named before it):

    batch       distinct texts and pairs of them; what a network of pairs is
    vectors     word vectors from a file
    texts       texts and pairs of them as numbers of words
    fitting     fitting and scoring, shared by all
    networks    DualBoW, two BiLSTMs, one BiLSTM
    attention   words of two texts aligned
    decomposable  decomposable attention
    esim        ESIM
    members     DualBowFilter, InferSentMLPFilter, InferSentBilinearFilter, LSTMFilter, DecompFilter, ESIMFilter
"""
