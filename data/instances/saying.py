"""How many there are of something, in words."""


def several(n: int, noun: str) -> str:
    """`1 row`, `1,234 rows`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
