"""Filters made ready: every fault at once, before any work."""

import numpy as np
import pytest
from conftest import FeatureFilter, HashFilter, make_contexts_of, make_pool

from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.filters.prepare import place, prepare
from swag_af.filters.registry import make_filter


class Packageless(HashFilter):
    name = "packageless"

    def check(self) -> None:
        raise InputError("a package is missing.")


class OnADevice(HashFilter):
    device = "auto"


def bare_pool() -> CandidatePool:
    """Without features and tags."""
    contexts = make_contexts_of(4, n_videos=4)
    negatives = [[f"sees {k} birds and {i} trees." for k in range(3)] for i in range(4)]
    return CandidatePool.from_texts(contexts, negatives, tagger="none")


def test_names_and_objects_come_back_in_order(pool: CandidatePool) -> None:
    own = HashFilter()
    made = prepare(["ngrams", own], pool)
    assert [one.name for one in made] == ["ngrams", "hash"]
    assert made[1] is own


def test_all_faults_are_in_one_error(pool: CandidatePool) -> None:
    with pytest.raises(InputError) as caught:
        prepare(["mlpp", Packageless(), FeatureFilter(), "poslstm"], bare_pool())
    said = str(caught.value)
    for fault in ("no filter 'mlpp'", "a package is missing", "no table features", "no part-of-speech tags"):
        assert fault in said


def test_a_fault_that_two_filters_share_is_said_once() -> None:
    with pytest.raises(InputError) as caught:
        prepare([FeatureFilter(), FeatureFilter()], bare_pool())
    assert str(caught.value).count("no table features") == 1


def test_features_are_read_before_any_work() -> None:
    pool = make_pool(3)
    features = pool.gather("features", np.arange(len(pool))).copy()
    features[7, 2, 1] = np.nan
    pool._shards[0]._arrays["features"] = features
    prepare([HashFilter()], pool)
    with pytest.raises(InputError, match="first: row 7"):
        prepare([FeatureFilter()], pool)


def test_where_to_compute_is_said_to_those_who_ask(pool: CandidatePool) -> None:
    here, plain = prepare([OnADevice(), HashFilter()], pool, device="cpu")
    assert here.device == "cpu"
    assert not hasattr(plain, "device")
    assert prepare([OnADevice()], pool)[0].device == "auto"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("bow[max_epochs=0]", "filter bow: max_epochs must be 1 or more"),
        ("mlp[width=0]", "filter mlp: width must be 1 or more"),
        ("ensemble[mlp_width=-1]", "filter ensemble: mlp_width must be 1 or more"),
        ("cnn[learning_rate=-1]", "filter cnn: learning_rate must be above 0"),
        ("poslstm[stopping_share=1]", "stopping_share must be from 0 to below 1"),
        ("ngrams[longest=0]", "filter ngrams: longest and n_buckets must be 1 or more"),
        ("ngrams[strength=1e-300]", "filter ngrams: n_buckets at most 67,108,864, strength from 1e-15 to 1e\\+15"),
        ("ngrams[strength=1e300]", "filter ngrams: n_buckets at most"),
        ("chars[n_buckets=2147483647]", "filter chars: n_buckets at most"),
        ("infersent-mlp[width=0]", "filter infersent-mlp: width must be 1 or more"),
        ("mlp[device=gpu]", "filter mlp: device gpu is none of auto, cpu, cuda"),
    ],
)
def test_a_setting_out_of_range_is_told_before_any_work(pool: CandidatePool, name: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        prepare([name], pool)


def test_a_device_in_brackets_stays_where_another_is_asked_for() -> None:
    own, other = make_filter("mlp[device=cpu]"), make_filter("mlp")
    for one in (own, other):
        place(one, "cuda")
    assert [getattr(one, "device", "") for one in (own, other)] == ["cpu", "cuda"]


class Placed:
    """A plain class with a device; only its constructor says which one it takes by itself."""

    name = "placed"

    def __init__(self, device: str = "auto") -> None:
        self.device = device


class PlacedLate(Placed):
    """Takes None for the device that it takes by itself."""

    def __init__(self, device: str | None = None) -> None:
        self.device = device or "auto"


class Unplaced(Placed):
    """Keeps None until somebody says a device."""

    def __init__(self, device: str | None = None) -> None:
        self.device = device


class ReadOnly(Placed):
    """Has a device once it is fitted."""

    def __init__(self) -> None:
        self.fitted_on = None

    @property
    def device(self) -> None:
        return self.fitted_on


def test_a_device_that_can_only_be_read_is_the_filters_own() -> None:
    """It ended in an error of ours, without any --device."""
    one = ReadOnly()
    place(one, "auto")
    assert one.device is None


@pytest.mark.parametrize("made", [Placed, PlacedLate, Unplaced])
def test_a_plain_class_keeps_the_device_that_it_was_given(made: type[Placed]) -> None:
    """One whose constructor has None for auto was never placed."""
    own, other = made("cpu"), made()
    for one in (own, other):
        place(one, "cuda")
    assert [own.device, other.device] == ["cpu", "cuda"]
