"""Many requests at a time, each asked once: what is under way, what is known, and when to stop."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, ExitStack

from swag_af.data.errors import ExhaustedError
from swag_af.endpoints.contract import Answer, Request
from swag_af.endpoints.costs.budget import SpentError
from swag_af.endpoints.costs.usage import Usage
from swag_af.endpoints.journal import Journal
from swag_af.endpoints.traffic.sending import Background, Sender

Line = tuple[Background, Sender]


class Asking:
    """One pass over some requests. `line` opens the way to the server, once something has to be asked."""

    def __init__(
        self, line: Callable[[], AbstractContextManager[Line]], journal: Journal, model: str, concurrency: int
    ):
        self._line = line
        self._journal = journal
        self._model = model
        self._concurrency = concurrency
        self._under_way: dict[Future[Answer], Request] = {}
        self._positions: dict[str, list[int]] = {}
        """By the key of each request under way."""
        self._spent = ""
        """The option whose limit is reached."""

    def run(self, requests: Iterable[Request]) -> Iterator[tuple[int, Answer]]:
        """The position and answer of each, as it comes."""
        numbered = enumerate(requests)
        with ExitStack() as stack:
            opened: list[Line] = []
            is_more = True
            while is_more or self._under_way:
                while is_more and not self._spent and len(self._under_way) < self._concurrency:
                    taken = next(numbered, None)
                    is_more = taken is not None
                    if taken is not None:
                        yield from self._begin(*taken, lambda: _once(opened, stack, self._line))
                yield from self._finish()
                is_more = is_more and not self._spent
            if self._spent:
                raise exhausted(self._spent, self._journal.spent(self._model))

    def _begin(self, position: int, request: Request, line: Callable[[], Line]) -> Iterator[tuple[int, Answer]]:
        """Give what is known; ask for what is neither known nor under way."""
        kept = self._journal.answer(request, self._model)
        if kept is not None:
            yield position, kept
        elif request.key in self._positions:
            self._positions[request.key].append(position)
        else:
            background, sender = line()
            self._positions[request.key] = [position]
            self._under_way[background.submit(sender.answer(request, self._model))] = request

    def _finish(self) -> Iterator[tuple[int, Answer]]:
        """Wait for one at least, and give what came."""
        if not self._under_way:
            return
        for future in wait(self._under_way, return_when=FIRST_COMPLETED).done:
            request = self._under_way.pop(future)
            try:
                answer = future.result()
            except SpentError as error:
                self._spent = str(error)
                continue
            for position in self._positions.pop(request.key):
                yield position, answer


def exhausted(option: str, used: Usage) -> ExhaustedError:
    """The error when the limit of an option is reached."""
    return ExhaustedError(
        f"{option} is reached: {used.told()}. All answers are kept: raise it and run the same command again, and it "
        "goes on from here."
    )


def _once(opened: list[Line], stack: ExitStack, line: Callable[[], AbstractContextManager[Line]]) -> Line:
    """The way to the server, opened when it is first needed."""
    if not opened:
        opened.append(stack.enter_context(line()))
    return opened[0]
