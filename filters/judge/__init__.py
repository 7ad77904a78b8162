"""Language models behind an address as judges of endings, without training: `judge[URL]`.

Reading order (each file imports only those named before it):

    orders   in which orders the options of a question are shown
    answers  what a judge's answer says, and how many said nothing
    asking   what a judge is asked, of one ending or of a whole question, and the likelihood of a text
    judge    JudgeFilter

Importing this package loads nothing else.
"""
