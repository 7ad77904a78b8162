"""Views: some candidates of some rows of a pool, which filters fit on and score.

A view holds numbers of rows and candidates, and reads a table of the pool when it is first used. It knows a pool by
what it asks of one, `Readable`.
"""

from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.data.pool.folder import check_finite
from swag_af.data.pool.listing import Contexts
from swag_af.data.vocabulary import Vocabulary


class Readable(Protocol):
    """What a view, and a filter that has one, asks of a pool; `CandidatePool` tells of each."""

    path: Path | None

    @property
    def tables(self) -> tuple[str, ...]: ...

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def contexts(self) -> Contexts: ...

    @property
    def groups(self) -> np.ndarray: ...

    def require(self, *tables: str) -> None: ...

    def gather(self, table: str, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray: ...

    def feature(self, name: str, rows: np.ndarray, columns: np.ndarray) -> np.ndarray: ...

    def texts_of(self, rows: np.ndarray, columns: np.ndarray) -> list[list[str]]: ...

    def view(self, rows: np.ndarray, columns: np.ndarray) -> "View": ...


class View:
    """`n` rows x `m` candidates of a pool, what a filter fits on and scores. Tables are read when first used.

    Letters: `n` rows, `m` candidates a row, `L` tokens an ending, `S` tokens a start, `F` features.
    """

    def __init__(self, pool: Readable, rows: np.ndarray, columns: np.ndarray):
        if columns.ndim != 2 or rows.shape != columns.shape[:1]:
            raise InputError(f"a view takes rows (n,) and columns (n, m), not {rows.shape} and {columns.shape}.")
        self.pool = pool
        self.rows = rows
        self.columns = columns

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"View({len(self):,} rows x {self.columns.shape[1]} candidates)"

    @property
    def shape(self) -> tuple[int, int]:
        """`(n, m)`."""
        return self.columns.shape[0], self.columns.shape[1]

    @property
    def vocabulary(self) -> Vocabulary:
        """The token types behind `tokens` and `starts`."""
        return self.pool.vocabulary

    @cached_property
    def tokens(self) -> np.ndarray:
        """(n, m, L) token ids of the endings, 0 beyond each length."""
        return self.pool.gather("tokens", self.rows, self.columns)

    @cached_property
    def lengths(self) -> np.ndarray:
        """(n, m) tokens in each ending."""
        return self.pool.gather("lengths", self.rows, self.columns).astype(np.int64)

    @cached_property
    def starts(self) -> np.ndarray:
        """(n, S) token ids of the starts, 0 beyond each length."""
        return self.pool.gather("starts", self.rows)

    @cached_property
    def start_lengths(self) -> np.ndarray:
        """(n,) tokens in each start."""
        return self.pool.gather("start_lengths", self.rows).astype(np.int64)

    @cached_property
    def tags(self) -> np.ndarray:
        """(n, m, L) codes of the endings' tags in context, 0 beyond each length; only where the pool has the table."""
        return self.pool.gather("tags", self.rows, self.columns)

    @cached_property
    def start_tags(self) -> np.ndarray:
        """(n, S) codes of the starts' tags, likewise."""
        return self.pool.gather("start_tags", self.rows)

    @cached_property
    def features(self) -> np.ndarray:
        """(n, m, F) float32 features; raises InputError when one of them is not finite."""
        features = self.pool.gather("features", self.rows, self.columns)
        check_finite(features, f"{self.pool.path or 'this pool'}", rows=self.rows)
        return features

    @cached_property
    def groups(self) -> np.ndarray:
        """(n,) numbers that are equal for rows that no split should separate (`CandidatePool.groups`)."""
        return self.pool.groups[self.rows]

    @cached_property
    def contexts(self) -> list[Context]:
        """The n contexts."""
        return self.pool.contexts.of_rows(self.rows)

    @cached_property
    def texts(self) -> list[list[str]]:
        """n lists of m endings; empty ones where a row has fewer candidates."""
        return self.pool.texts_of(self.rows, self.columns)

    def take(self, index: np.ndarray) -> "View":
        """The view of the rows at positions `index`."""
        return View(self.pool, self.rows[index], self.columns[index])

    def permute(self, order: np.ndarray) -> "View":
        """The same rows with their candidates in another order; `order` is (n, m)."""
        return View(self.pool, self.rows, np.take_along_axis(self.columns, order, axis=1))
