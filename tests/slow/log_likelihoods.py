"""The slow, obvious twin of what the evaluation harness scores."""

from pathlib import Path


def log_likelihoods(model: Path, context: str, endings: list[str]) -> list[float]:
    """The slow twin: the sum of each ending's log-probabilities after the context, a token at a time."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, network = AutoTokenizer.from_pretrained(model), AutoModelForCausalLM.from_pretrained(model).eval()
    before = tokenizer.encode(context) if context else [tokenizer.bos_token_id]
    sums = []
    for ending in endings:
        whole = tokenizer.encode(f"{context} {ending}") if context else [*before, *tokenizer.encode(f" {ending}")]
        with torch.no_grad():
            logits = network(torch.tensor([whole])).logits[0].double().log_softmax(-1)
        sums.append(sum(float(logits[i - 1, whole[i]]) for i in range(len(before), len(whole))))
    return sums
