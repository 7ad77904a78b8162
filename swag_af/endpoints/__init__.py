"""Language models behind an address: any server that speaks OpenAI's `/v1/completions` or `/v1/chat/completions`.

Reading order (each file imports only those named before it):

    options   how a server is asked, and how much of it
    contract  requests, answers, what a server can do
    settings  a server as a name in brackets has it

Knows requests and answers only; prompts, endings and questions are made of them elsewhere. Importing this package loads
nothing else.
"""
