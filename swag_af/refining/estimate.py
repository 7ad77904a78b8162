"""Requests, tokens and money of a refinement before anything is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swag_af.data.instances.instances import Instances
from swag_af.endpoints.costs.prices import Price, read_price
from swag_af.endpoints.costs.usage import CHARACTERS_A_TOKEN
from swag_af.endpoints.settings import ServerSettings
from swag_af.filters.judge.asking import LONGER_WITH_REASON
from swag_af.refining.options import RefineOptions
from swag_af.refining.rewriting import PROMPTS, Rewriter
from swag_af.refining.voting import JudgeVoter, Voter

_OF_A_PROMPT = 300
"""Characters of what is said to a judge beside the question, about."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a part of the work takes, at most."""

    what: str
    n_requests: int
    tokens: int
    """Of prompts, about, and of the longest answers."""
    money: float | None
    """None where no price is known."""


def estimate(
    options: RefineOptions, instances: Instances, voters: Sequence[Voter], rewriter: Rewriter | None
) -> list[Cost]:
    """The cost of judging every question once, and of all that could follow if every one were flagged every time."""
    n, length, is_vote = len(instances), _mean_length(instances), options.recipe == "mmmu-pro"
    tries, again = (options.tries, 1) if is_vote else (options.orders, options.rounds + 2)
    costs = []
    for one in (voter.judge for voter in voters if isinstance(voter, JudgeVoter)):
        shown, name = length + _OF_A_PROMPT, f"judge[{one.url}]"
        costs.append(_cost(f"{name}, every question", one, n * tries, shown, one.max_tokens))
        costs.append(_cost(f"{name}, if all are flagged", one, again * n * tries, shown, one.max_tokens))
        if not is_vote:
            costs.append(_cost(f"{name}, reasons", one, n * options.rounds, shown, LONGER_WITH_REASON * one.max_tokens))
    if rewriter is not None:
        rounds = 1 if is_vote else options.rounds
        said = len(PROMPTS["rewrite"])
        costs.append(_cost(f"endpoint[{rewriter.url}]", rewriter, n * rounds, length + said, rewriter.max_tokens))
    return costs


def _mean_length(instances: Instances) -> float:
    """Characters of a question with its options, on average."""
    whole = (len(one.context) + len(one.start) + sum(map(len, one.options)) for one in instances.instances)
    return float(np.mean(list(whole)))


def _cost(what: str, server: ServerSettings, n: int, characters: float, answer: int) -> Cost:
    prompt, price = round(n * characters / CHARACTERS_A_TOKEN), _price(server)
    money = None if price is None else round(price.of(prompt, n * answer), 4)
    return Cost(what, n, prompt + n * answer, money)


def _price(server: ServerSettings) -> Price | None:
    return read_price(Path(server.prices), server.model) if server.prices else None
