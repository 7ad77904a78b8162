"""Claims about the tasks for lm-evaluation-harness: the harness finds, loads and runs them from anywhere.

The slow ones run the harness itself on a tiny model with random weights, made here.
"""

import importlib.util
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before anything of Hugging Face is imported

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged import judged_options, make_run, release_without_curve, rows_of
from slow.log_likelihoods import log_likelihoods

from swag_af.releasing.cards.card import dataset_card
from swag_af.releasing.dataset import Dataset
from swag_af.releasing.lm_eval.harness import task_names
from swag_af.releasing.lm_eval.utils import questions_of_other_videos, read, with_shuffled_contexts
from swag_af.releasing.options import ReleaseOptions

VARIANTS = ("full", "ending_only", "shuffled_context")


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> ReleaseOptions:
    folder = tmp_path_factory.mktemp("judged")
    return judged_options(make_run(folder), folder)


@pytest.fixture(scope="module")
def made(options: ReleaseOptions) -> Dataset:
    return release_without_curve(options)


# ------------------------------------------------------------------------------- whose context a question gets

VIDEOS = st.lists(st.sampled_from([f"v{i}" for i in range(8)]), max_size=40)


@given(VIDEOS)
def test_every_question_gives_its_context_to_one_other(videos: list[str]) -> None:
    assert sorted(questions_of_other_videos(videos)) == list(range(len(videos)))


@given(VIDEOS)
def test_no_question_gets_a_context_of_its_own_video(videos: list[str]) -> None:
    if videos and max(Counter(videos).values()) <= len(videos) / 2:
        others = questions_of_other_videos(videos)
        assert all(videos[i] != videos[other] for i, other in enumerate(others))


def test_a_question_without_a_video_never_gets_its_own_words(tmp_path: Path) -> None:
    """Rows about one question, whose ids stood for videos, got its text back."""
    rows = [f"{'' if i % 4 else 'v'},{i},What is {i // 6}?,yes,no,{i % 2}" for i in range(30)]
    text = "\n".join(["video-id,fold-ind,startphrase,ending0,ending1,label", *rows])
    (tmp_path / "val.csv").write_text(text, encoding="utf-8")
    docs = pytest.importorskip("datasets").Dataset.from_list(read(tmp_path / "val.csv"))
    shuffled = with_shuffled_contexts(docs.add_column("own", docs["query"]))
    assert len(shuffled) > 20
    assert all(own != query for own, query in zip(shuffled["own"], shuffled["query"], strict=True))


# ------------------------------------------------------------------------------- the folder


def test_there_is_a_task_a_variant_and_their_group(options: ReleaseOptions, made: Dataset) -> None:
    assert {path.stem for path in (options.out / "lm_eval").glob("*.yaml")} == {
        f"kitchen_{name}" for name in (*VARIANTS, "variants")
    }


def test_contexts_are_not_shuffled_where_one_video_has_most_questions(made: Dataset) -> None:
    video = made.of_split("val")[0].context.video
    of_one_video = [q for q in made.questions if q.split != "val" or q.context.video == video]
    few = replace(made, questions=of_one_video)
    assert task_names(few) == ["kitchen_full", "kitchen_ending_only", "kitchen_variants"]
    assert "shuffled_context" not in dataset_card(few, ("jsonl",))


def test_without_validation_questions_there_are_no_tasks(options: ReleaseOptions, tmp_path: Path) -> None:
    release_without_curve(replace(options, out=tmp_path / "none", val_share=0.0))
    assert not (tmp_path / "none" / "lm_eval").exists()
    assert "lm_eval" not in (tmp_path / "none" / "README.md").read_text()


def test_the_copied_loader_reads_the_folder_it_stands_in(options: ReleaseOptions, made: Dataset) -> None:
    spec = importlib.util.spec_from_file_location("copied", options.out / "lm_eval" / "utils.py")
    copied = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copied)
    records = copied.read(options.out / "val.csv")
    assert [record["choices"][record["label"]] for record in records] == [q.answer for q in made.of_split("val")]


# ------------------------------------------------------------------------------- the harness itself


@pytest.fixture(scope="module")
def model(made: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 with random weights, and a tokenizer trained on the questions; both saved as a folder."""
    pytest.importorskip("lm_eval")
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("model")
    bpe = ByteLevelBPETokenizer()
    texts = [text for question in made.questions for text in (question.startphrase, *question.endings)]
    bpe.train_from_iterator(texts, vocab_size=400, special_tokens=["<|endoftext|>"], show_progress=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer, bos_token="<|endoftext|>", eos_token="<|endoftext|>", model_max_length=128
    )
    tokenizer.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = GPT2Config(len(tokenizer), n_positions=128, n_embd=32, n_layer=2, n_head=2, initializer_range=0.5)
        GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def results(model: Path, options: ReleaseOptions, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the harness says of the group of all variants, run from another folder."""
    import lm_eval
    from lm_eval.tasks import TaskManager

    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("elsewhere"))
    try:
        return lm_eval.simple_evaluate(
            model="hf",
            model_args={"pretrained": str(model), "device": "cpu", "dtype": "float32"},
            tasks=["kitchen_variants"],
            task_manager=TaskManager(include_path=str(options.out / "lm_eval"), include_defaults=False),
            batch_size=4,
            bootstrap_iters=0,
            log_samples=True,
        )
    finally:
        os.chdir(before)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["full", "ending_only"])
def test_the_harness_scores_as_a_direct_computation_does(
    variant, results, model: Path, options: ReleaseOptions
) -> None:
    samples = sorted(results["samples"][f"kitchen_{variant}"], key=lambda sample: sample["doc_id"])
    rows = rows_of(options.out / "val.csv")
    assert len(samples) == len(rows)
    correct = []
    for sample, row in zip(samples[:6], rows, strict=False):
        endings = [row[f"ending{i}"] for i in range(4)]
        found = log_likelihoods(model, row["startphrase"] if variant == "full" else "", endings)
        assert [float(reply[0]) for reply in sample["filtered_resps"]] == pytest.approx(found, abs=1e-3)
        correct.append(found.index(max(found)) == int(row["label"]))
    assert [sample["acc"] for sample in samples[:6]] == correct


@pytest.mark.slow
def test_the_harness_says_an_accuracy_for_every_variant(results) -> None:
    for name in VARIANTS:
        samples = results["samples"][f"kitchen_{name}"]
        accuracy = results["results"][f"kitchen_{name}"]["acc,none"]
        assert accuracy == pytest.approx(sum(sample["acc"] for sample in samples) / len(samples))


@pytest.mark.slow
def test_the_shuffled_variant_shows_contexts_of_other_videos(results, options: ReleaseOptions) -> None:
    video_of = {row["startphrase"]: row["video-id"] for row in rows_of(options.out / "val.csv")}
    samples = results["samples"]["kitchen_shuffled_context"]
    assert samples
    for sample in samples:
        assert video_of[sample["doc"]["query"]] != sample["doc"]["video"]


@pytest.mark.slow
def test_the_variants_share_their_questions(results) -> None:
    asked = [
        sorted(tuple(sample["doc"]["choices"]) for sample in results["samples"][f"kitchen_{name}"]) for name in VARIANTS
    ]
    assert asked[0] == asked[1] == asked[2]
