"""Folders with small causal models and their tokenizers: a GPT-2 that has learnt the sample captions for seconds, and a
Llama with random weights, whose tokenizer writes blanks as SentencePiece does."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from swag_af.data.sample.grammar import sample_videos

N_STEPS = 80


def captions() -> list[str]:
    """Lines of two captions each."""
    return [
        f"{one.text} {two.text}"
        for video in sample_videos(60)
        for one, two in zip(video.captions, video.captions[1:], strict=False)
    ]


def save_tiny_gpt2(folder: Path) -> str:
    """Byte-level BPE and two layers of 48, trained until most sentences end; skips where transformers is missing."""
    transformers = pytest.importorskip("transformers")
    texts = captions()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_level(texts), bos_token="<|endoftext|>", eos_token="<|endoftext|>"
    )
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_embd=48, n_layer=2, n_head=2, n_positions=160, bos_token_id=0, eos_token_id=0
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.GPT2LMHeadModel(config)
        train(model, [[0, *tokenizer.encode(text), 0] for text in texts])
    return saved(folder, model, tokenizer)


def save_tiny_llama(folder: Path) -> str:
    """Rotary positions, a begin of text that is no end, blanks written as part of words; random weights."""
    transformers = pytest.importorskip("transformers")
    import tokenizers

    made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    made.decoder = tokenizers.decoders.Metaspace()
    learn(made, captions(), ["<unk>", "<s>", "</s>"])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=96, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(config)
        for weights in model.parameters():
            weights.data.mul_(4)  # far from uniform
    return saved(folder, model, tokenizer)


def byte_level(texts: Sequence[str]) -> Any:
    import tokenizers

    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    learn(made, texts, ["<|endoftext|>"], alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet())
    return made


def learn(tokenizer: Any, texts: Sequence[str], special: list[str], alphabet: Sequence[str] = ()) -> None:
    import tokenizers

    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=900, special_tokens=special, initial_alphabet=list(alphabet), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)


def train(model: Any, sequences: Sequence[Sequence[int]]) -> None:
    """Some steps of Adam on batches of `sequences`."""
    adam = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(N_STEPS):
        batch = [sequences[(step * 16 + i) % len(sequences)] for i in range(16)]
        longest = max(map(len, batch))
        ids = torch.tensor([[*ids, *[0] * (longest - len(ids))] for ids in batch])
        labels = torch.tensor([[*ids, *[-100] * (longest - len(ids))] for ids in batch])
        model.zero_grad()
        model(input_ids=ids, labels=labels).loss.backward()
        adam.step()


def saved(folder: Path, model: Any, tokenizer: Any) -> str:
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
