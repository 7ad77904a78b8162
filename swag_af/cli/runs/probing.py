"""What the verb `probe-endpoint` prints."""

import json
from dataclasses import asdict

from swag_af.data.disk.urls import command
from swag_af.endpoints.contract import MANY, Abilities
from swag_af.endpoints.options import ProbeEndpointOptions
from swag_af.reporting.tables.text import table

WORDS = {
    "completions": "/v1/completions: texts are continued",
    "chat": "/v1/chat/completions: prompts as turns",
    "echo_logprobs": "likelihoods of a given text by echo and logprobs",
    "prompt_logprobs": "likelihoods of a given text by prompt_logprobs",
    "answer_logprobs": "likelihoods of generated tokens",
    "many": f"several texts a request (n = {MANY})",
    "json_schema": "answers kept to a JSON schema",
    "stop": "stop is accepted",
    "seed": "seed is accepted",
    "repeats": "the same seed gave the same text twice",
    "blanks": "completions keep the blank before a word",
}


def probed_lines(abilities: Abilities, options: ProbeEndpointOptions) -> list[str]:
    """A table of what it can do, what that is good for, and what to run next; or JSON."""
    if options.json:
        return [json.dumps(asdict(abilities), ensure_ascii=False)]
    rows = [("tried", "works")]
    rows += [(words, "yes" if getattr(abilities, name) else "no") for name, words in WORDS.items()]
    generation = ("generate", "contexts.jsonl", "--generator", f"endpoint[{options.url}]")
    reads = "works" if abilities.reads_prompts else "does not: no likelihoods of texts"
    return [
        f"{options.url}: model {abilities.model or 'without a name'}, answers limited by {abilities.limit}",
        "",
        *table(rows),
        "",
        f"generate works; features --scorer {reads}.",
        f"Next: {command(*generation, '--out', 'pool', '--dry-run')}",
    ]
