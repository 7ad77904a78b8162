"""Language models behind an address: any server that speaks OpenAI's `/v1/completions` or `/v1/chat/completions`.

Reading order (each file or folder imports only those named before it):

    options     how a server is asked, and how much of it
    contract    requests, answers, what a server can do
    address     `http://host:port` and what else people write
    costs       what requests cost, and limits of it
    shared      what this process did with a journal that others use too
    journal     every answer on disk, before it is used
    traffic     requests on their way, and what comes back
    likelihood  the log-probabilities of a given text
    probing     what a server can do, by trying
    client      `Endpoint`, which does all of this
    settings    a server as a name in brackets has it
    forecast    what many requests would take
    verb        the verb `probe-endpoint`

Knows requests and answers only; prompts, endings and questions are made of them elsewhere. Importing this package loads
nothing else.
"""
