"""Tables as LaTeX, with the rules of the package booktabs."""

from collections.abc import Collection, Sequence

_ESCAPED = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
    }
)


def escaped(text: str) -> str:
    """`text` as LaTeX prints it: no character of it commands anything."""
    return " ".join(text.translate(_ESCAPED).split())


def latex_table(rows: Sequence[Sequence[str]], caption: str, label: str, *, left: Collection[int] = (0,)) -> str:
    """A `table` whose first row is the header; the columns `left` are left-aligned, the others right-aligned.

    It needs `\\usepackage{booktabs}`.
    """
    header, *body = [" & ".join(map(escaped, row)) + r" \\" for row in rows]
    columns = "".join("l" if i in left else "r" for i in range(len(rows[0])))
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{columns}}}",
        *(r"\toprule", header, r"\midrule", *body, r"\bottomrule"),
        r"\end{tabular}",
        rf"\caption{{{escaped(caption)}}}",
        rf"\label{{tab:{label}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
