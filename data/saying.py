"""How many there are of something, in words."""


def several(n: int, one: str, many: str = "") -> str:
    """`1 row`, `1,234 rows`; `many` where an s at the end does not make it: `1 row has`, `2 rows have`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
