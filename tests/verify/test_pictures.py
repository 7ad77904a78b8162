"""Claims about pictures: annotators see those of their items, checks and trial questions, and no other file."""

import base64
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import make_contexts_of
from fastapi.testclient import TestClient
from test_checks import make_attentive
from verify_people import Browser, make_client, make_desk, make_run

from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run
from swag_af.verify.options import ServeOptions
from swag_af.verify.web.media import Media, open_media
from swag_af.verify.web.security import ANNOTATOR, Signer
from swag_af.verify.web.server import _site, serve

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def run_of(folder: Path, media: list[dict[str, Any]], n: int = 12) -> Run:
    contexts = [replace(one, media=media[i % len(media)]) for i, one in enumerate(make_contexts_of(n, n_videos=n))]
    negatives = [[f"sees {k} birds and {i} trees." for k in range(12)] for i in range(n)]
    return make_run(CandidatePool.from_texts(contexts, negatives, tagger="none"), folder)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    (folder / "film").mkdir(parents=True)
    for name in ("film/a.png", "b.PNG", "clip.mp4"):
        (folder / name).write_bytes(PNG)
    (tmp_path / "secret.png").write_bytes(b"secret")
    return folder


def sources(page: str) -> list[str]:
    return re.findall(r'<(?:img|video) src="([^"]+)"', page)


def begun(run: Run, images: Path, name: str = "ann") -> tuple[TestClient, Browser]:
    client = make_client(make_desk(run), run, media=open_media(images, run)[0])
    return client, Browser(client, name).begin()


def test_pictures_and_videos_of_an_item_are_on_its_page(tmp_path: Path, images: Path) -> None:
    run = run_of(tmp_path / "run", [{"left": "film/a.png", "pair": ["b.PNG", "clip.mp4"], "objects": ["dog", "<b>"]}])
    client, ann = begun(run, images)
    found = sources(ann.page)
    assert found == [f"/item/{ann.task}/media/{i}" for i in range(3)]
    answers = [client.get(one) for one in found]
    assert [one.headers["content-type"] for one in answers] == ["image/png", "image/png", "video/mp4"]
    assert {one.content for one in answers} == {PNG}
    assert "<b>objects</b> dog, &lt;b&gt;" in ann.page
    policy = answers[0].headers["content-security-policy"]
    assert "img-src 'self'; media-src 'self'" in policy


def test_a_link_is_shown_by_its_own_ending_and_links_in_a_ring_are_missing(tmp_path: Path, images: Path) -> None:
    """Files of annexes and caches are called by their hashes: the item that had one could not be shown."""
    (images / "0a1b2c").write_bytes(PNG)
    (images / "annex.png").symlink_to("0a1b2c")
    (images / "ring.png").symlink_to("ring.png")
    run = run_of(tmp_path / "run", [{"image": ["ring.png", "annex.png", "a tag"]}])
    client, ann = begun(run, images)
    assert sources(ann.page) == [f"/item/{ann.task}/media/1"]
    assert client.get(sources(ann.page)[0]).headers["content-type"] == "image/png"
    assert "Picture 1 of 2 is not here." in ann.page
    assert "<b>image</b> a tag" in ann.page


def test_without_a_folder_nothing_is_shown_or_served(tmp_path: Path, images: Path) -> None:
    run = run_of(tmp_path / "run", [{"image": "film/a.png"}])
    client = make_client(make_desk(run), run)
    ann = Browser(client, "ann").begin()
    assert sources(ann.page) == []
    assert client.get(f"/item/{ann.task}/media/0").status_code == 404


def test_only_who_has_the_item_is_sent_its_picture(tmp_path: Path, images: Path) -> None:
    run = run_of(tmp_path / "run", [{"image": "film/a.png"}])
    client, ann = begun(run, images)
    path = f"/item/{ann.task}/media/0"
    assert client.get(path).status_code == 200
    assert [client.get(f"/item/{ann.task}/media/{wrong}").status_code for wrong in ("1", "-1", "x", "00000000000")] == [
        404
    ] * 4
    client.cookies.clear()
    assert client.get(path).status_code == 401
    Browser(client, "bob").begin()
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("path", ["../secret.png", "film/../../secret.png", "link.png", "{absolute}", "a\0.png"])
def test_no_file_beyond_the_folder_is_served(tmp_path: Path, images: Path, path: str) -> None:
    (images / "link.png").symlink_to(tmp_path / "secret.png")
    path = path.replace("{absolute}", str(tmp_path / "secret.png"))
    run = run_of(tmp_path / "run", [{"image": path}, {"image": "film/a.png"}])
    media, lacking = open_media(images, run)
    assert lacking is not None
    assert "6 contexts of 12" in lacking
    assert not media.has(path)
    assert media.beside(run.pool.contexts[0]).kinds == ("missing",)
    assert media.file(run.pool.contexts[0], 0) is None


def test_what_browsers_run_or_what_lies_elsewhere_is_no_picture(tmp_path: Path, images: Path) -> None:
    (images / "a.svg").write_text("<svg/>")
    run = run_of(tmp_path / "run", [{"image": "a.svg", "far": "https://host/a.png"}, {"image": "film/a.png"}])
    media, lacking = open_media(images, run)
    assert lacking is None
    assert media.beside(run.pool.contexts[0]).kinds == ()


def test_checks_have_their_pictures_or_would_be_known_by_their_lack(tmp_path: Path, images: Path) -> None:
    run = run_of(tmp_path / "run", [{"image": "film/a.png"}], n=40)
    desk = make_attentive(run)
    client = make_client(desk, run, media=Media(images))
    ann = Browser(client, "ann").begin()
    kinds = []
    for _ in range(8):
        assert client.get(sources(ann.page)[0]).content == PNG
        task = desk.task(ann.task, "ann", session_of(client))
        assert task is not None
        kinds.append(bool(task.is_check))
        ann.send(ratings=["likely"] * 6, best=0, second=1)
    assert set(kinds) == {True, False}


def session_of(client: TestClient) -> str:
    session = Signer("secret").unseal(client.cookies.get(ANNOTATOR), ANNOTATOR)
    assert session is not None
    return session.number


def test_drawn_trial_questions_have_their_pictures(tmp_path: Path, images: Path) -> None:
    run = run_of(tmp_path / "run", [{"image": "film/a.png"}], n=40)
    assert run.path is not None
    options = ServeOptions(run.path, limit=5, qualification="drawn")
    site = _site(run, make_desk(run, limit=5).store, (), "a secret", options, Media(images))
    client = make_client(site.desk, run, media=site.media)
    ann = Browser(client, "ann").begin()
    assert "Trial question 1" in " ".join(ann.page.split())
    assert client.get(sources(ann.page)[0]).content == PNG


@pytest.mark.parametrize(
    ("folder", "media", "said"),
    [
        ("nowhere", [{"image": "film/a.png"}], "no such folder"),
        ("images", [{"objects": ["dog"]}], "no context names a picture or video"),
        ("images", [{"image": "gone.png"}], "none of the files that the contexts name is there"),
    ],
)
def test_a_folder_of_no_use_is_refused_before_anything_is_laid_out(
    tmp_path: Path, images: Path, folder: str, media: list[dict[str, Any]], said: str
) -> None:
    run = run_of(tmp_path / "run", media)
    assert run.path is not None
    with pytest.raises(InputError, match=said):
        serve(ServeOptions(run.path, media=tmp_path / folder, port=0), say=lambda *lines: None)
    assert not (run.path / "verification" / "answers.db").exists()
