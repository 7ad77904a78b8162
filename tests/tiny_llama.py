"""A small Llama that has learnt the sample captions, as a folder of transformers and as a GGUF of llama.cpp."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_causal import byte_level, captions, saved, train

CHAT = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
"""The template of a model that goes on with whatever it is told."""


def save_tiny_chat_llama(folder: Path) -> str:
    """Byte-level BPE, two layers of 64; skips where transformers is not installed."""
    transformers = pytest.importorskip("transformers")
    texts = captions()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_level(texts),
        bos_token="<|endoftext|>",
        eos_token="<|endoftext|>",
        chat_template=CHAT,
        model_input_names=["input_ids", "attention_mask"],
    )
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=4, max_position_embeddings=512, bos_token_id=0, eos_token_id=0, tie_word_embeddings=False,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(config)
        train(model, [[0, *tokenizer.encode(text), 0] for text in texts])
    model.generation_config.do_sample = True
    model.generation_config.pad_token_id = 0
    return saved(folder, model, tokenizer)


def save_gguf(folder: Path, path: Path) -> str:
    """The same model as GGUF; skips where the package gguf is not installed."""
    gguf = pytest.importorskip("gguf")
    transformers = pytest.importorskip("transformers")
    model = transformers.LlamaForCausalLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    writer = gguf.GGUFWriter(path, "llama")
    _write_settings(writer, model.config)
    _write_tokens(gguf, writer, tokenizer)
    for name, tensor in model.state_dict().items():
        writer.add_tensor(*_as_llama_cpp(name, tensor.float().numpy(), model.config.num_attention_heads))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return str(path)


def _write_settings(writer: Any, config: Any) -> None:
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_vocab_size(config.vocab_size)


def _write_tokens(gguf: Any, writer: Any, tokenizer: Any) -> None:
    import json

    model = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    tokens = [token for token, _ in sorted(model["vocab"].items(), key=lambda pair: pair[1])]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL, *[gguf.TokenType.NORMAL] * (len(tokens) - 1)])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_chat_template(tokenizer.chat_template)


def _as_llama_cpp(name: str, weights: np.ndarray, n_heads: int) -> tuple[str, np.ndarray]:
    """A tensor by llama.cpp's name; queries and keys have their rotary halves beside each other there."""
    parts = {
        "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
        "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down", "post_attention_layernorm": "ffn_norm", "input_layernorm": "attn_norm",
        "model.layers": "blk",
    }  # fmt: skip
    for theirs, ours in parts.items():
        name = name.replace(theirs, ours)
    if ".attn_q." in name or ".attn_k." in name:
        n = len(weights) // n_heads
        weights = weights.reshape(n_heads, 2, n // 2, -1).swapaxes(1, 2).reshape(weights.shape)
    return name, np.ascontiguousarray(weights)
