"""Questions that a blind model answers, rewritten or taken out, by published recipes (`swag-af refine`).

Reading order (each file imports only those named before it):

    options    the options of `refine`
    chance     what guessing alone would flag
    voting     what judges and filters get right in several tries
    rewriting  wrong answers written by a model behind an address
    work       fits of filters on disk, from which a killed run goes on
    recipe     what every recipe works with, and what it gives
    cinepile   flagged questions are rewritten, round by round
    mmmu_pro   questions that most models answer are taken out, others get more options
    audits     what probes find before and after
    folder     the folder that refining leaves, and its reader
    estimate   requests, tokens and money before anything is asked
    verb       `refine`

Importing this package loads nothing else. HellaSwag's recipe is the loop itself: `swag-af filter --policy hellaswag`.
"""
