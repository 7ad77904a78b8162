"""Claims about real servers on this machine: a server and its client are killed, and nothing is lost or asked twice.

Each server skips where its package is absent; CI has none of them (docs/GENERATORS.md says how to install them).
"""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from conftest import make_contexts_of
from local_servers import SERVERS, LocalServer
from tiny_llama import save_gguf, save_tiny_chat_llama

from swag_af.data.context import phrase
from swag_af.endpoints.client import Endpoint
from swag_af.endpoints.contract import Abilities
from swag_af.endpoints.options import EndpointOptions
from swag_af.lm.endpoint.scorer import EndpointScorer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For a tiny model in both forms, each made when it is first served."""
    return tmp_path_factory.mktemp("served")


def server_of(name: str, folder: Path) -> LocalServer:
    model = folder / ("tiny" if name == "transformers serve" else "tiny.gguf")
    server = SERVERS[name](str(model), folder / "server.log")  # skips where it is absent
    if not (folder / "tiny").exists():
        save_tiny_chat_llama(folder / "tiny")
    if not model.exists():
        save_gguf(folder / "tiny", model)
    return server


CAN = {
    "transformers serve": Abilities("tiny", chat=True, seed=True, repeats=True),
    "llama-cpp-python": Abilities(
        "tiny",
        completions=True,
        chat=True,
        echo_logprobs=True,
        answer_logprobs=True,
        stop=True,
        seed=True,
        repeats=True,
        blanks=True,
    ),
    "llama-server": Abilities(
        "tiny",
        completions=True,
        chat=True,
        answer_logprobs=True,
        many=True,
        json_schema=True,
        stop=True,
        seed=True,
        repeats=True,
        blanks=True,
    ),
}
"""What they were found to be able to do, names apart. llama-server takes `echo` and gives no likelihoods."""


@pytest.mark.parametrize("name", CAN)
def test_what_a_real_server_can_do(name: str, folder: Path) -> None:
    with server_of(name, folder) as server:
        found = asdict(Endpoint(server.url, EndpointOptions(model="tiny")).abilities())
    assert found == asdict(CAN[name])


GENERATE = """
    import json, sys
    from pathlib import Path
    from conftest import make_contexts_of
    from swag_af.endpoints.options import EndpointOptions
    from swag_af.lm.endpoint.generator import EndpointGenerator
    options = EndpointOptions(model="tiny", concurrency=1)
    settings = {"min_tokens": 2, "max_tokens": 30, "max_draws": 6, "temperature": 1.2}
    generator = EndpointGenerator(sys.argv[1], "continuation", **settings, endpoint=options, journal=Path(sys.argv[2]))
    made = sorted(generator.generate(make_contexts_of(20, n_videos=10), 2, seed=0), key=lambda one: one.position)
    Path(sys.argv[3]).write_text(json.dumps([[one.endings, one.reason, dict(one.rejected)] for one in made]))
"""


def generating(url: str, journal: Path, out: Path) -> "subprocess.Popen[bytes]":
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", textwrap.dedent(GENERATE), url, str(journal), str(out)]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths})


def wait_for_answers(journal: Path, n: int, process: "subprocess.Popen[bytes]") -> None:
    while not journal.exists() or journal.read_text().count('"answer"') < n:
        assert process.poll() is None
        time.sleep(0.05)


@pytest.mark.parametrize("name", CAN)
def test_server_and_client_are_killed_and_the_endings_are_the_same(name: str, folder: Path, tmp_path: Path) -> None:
    """All of them give the same text for the same seed when they are asked one thing at a time."""
    journal = tmp_path / "answers.jsonl"
    with server_of(name, folder) as server:
        straight = generating(server.url, tmp_path / "straight.jsonl", tmp_path / "straight")
        assert straight.wait(300) == 0
        killed = generating(server.url, journal, tmp_path / "out")
        wait_for_answers(journal, 8, killed)
        server.kill()
        time.sleep(0.5)
        server.start()
        wait_for_answers(journal, 20, killed)
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
        assert not (tmp_path / "out").exists()
        assert generating(server.url, journal, tmp_path / "out").wait(300) == 0
    assert (tmp_path / "out").read_bytes() == (tmp_path / "straight").read_bytes()
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    keys = [record["key"] for record in records if "key" in record]
    assert len(set(keys)) == len(keys)
    n_made = sum(bool(endings) for endings, *_ in json.loads((tmp_path / "out").read_text()))
    assert n_made >= 10
    again = generating("http://127.0.0.1:9", journal, tmp_path / "again")
    again.wait(300)
    assert not (tmp_path / "again").exists()  # another address is another server, which is asked what it can do


def test_likelihoods_of_llama_cpp_are_those_of_the_model_read_whole(folder: Path) -> None:
    """Each text read by transformers, a line break before it; llama.cpp has its own arithmetic."""
    import torch
    import transformers

    contexts, endings = make_contexts_of(3, n_videos=3), [["paints the horse.", "sees two birds and a tree."]] * 3
    with server_of("llama-cpp-python", folder) as server:
        made = list(EndpointScorer(server.url, EndpointOptions(concurrency=1)).score(contexts, endings))
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "tiny")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "tiny")

    def nats(text: str, begin: int, end: int) -> np.ndarray:
        read = tokenizer(text, return_offsets_mapping=True)
        with torch.inference_mode():
            logits = model(torch.tensor([[0, *read["input_ids"]]])).logits[0].log_softmax(-1)
        found = [-float(logits[i, token]) for i, token in enumerate(read["input_ids"])]
        inside = [begin < last <= end for _, last in read["offset_mapping"]]
        return np.array(found)[inside]

    for context, mine, values in zip(contexts, endings, made, strict=True):
        text = phrase(context)
        for ending, row in zip(mine, values, strict=True):
            after, before = f"\n{text} {ending}", f"\n{ending} {text}"
            given = nats(after, 1 + len(text), len(after))
            expected = [
                given.mean(),
                nats(before, 1, 1 + len(ending)).mean(),
                nats(before, 1 + len(ending), len(before)).mean(),
                nats(f"\n{text}", 1, 1 + len(text)).mean(),
                given[-1],
            ]
            assert row == pytest.approx(np.array(expected), abs=2e-3)
