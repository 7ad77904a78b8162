"""Time and chance, as the client sees them; a test gives it others and waits for nothing."""

import asyncio
import random
import time


class Clock:
    """The machine's own."""

    def now(self) -> float:
        """Seconds that only ever grow."""
        return time.monotonic()

    def since_1970(self) -> float:
        """Seconds since 1970, for dates that a server names."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    def share(self) -> float:
        """A number from 0 to 1, for waits that should not be equal."""
        return random.random()
