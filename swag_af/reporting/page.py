"""The page around a report: style sheet, skeleton, and the few pieces of HTML that its sections share.

One file with no script and no address in it: a policy in its head forbids it to load anything. Light or dark as the
reader's system is, and one column on a telephone.
"""

from collections.abc import Mapping, Sequence

from swag_af.reporting.charts import escape

DARK = {
    "#4477aa": "#77aadd",
    "#228833": "#44bb66",
    "#ccbb44": "#d9c84f",
    "#ee6677": "#ff8f9c",
    "#222222": "#f2f2f2",
    "#aa3377": "#dd77b0",
    "#ee7733": "#ff9a5c",
    "#997700": "#ccaa33",
    "#009988": "#44bbaa",
    "#bb5566": "#dd8899",
    "#b07d00": "#e3b341",
    "#7d8590": "#9aa4b0",
    "#2563c9": "#6ea8fe",
}
"""Colours that are too dark for a dark page, and what stands there instead."""


def page(title: str, body: str, colours: Sequence[str]) -> str:
    """A whole HTML file; `colours` are those of the series `s0`, `s1`, ..."""
    light = "".join(f".s{i}{{--c:{colour}}}" for i, colour in enumerate(colours))
    dark = "".join(f".s{i}{{--c:{DARK.get(colour, colour)}}}" for i, colour in enumerate(colours))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}{light}\n@media(prefers-color-scheme:dark){{{dark}}}\n</style>\n"
        f"</head>\n<body>\n{body}</body>\n</html>\n"
    )


def section(name: str, title: str, *parts: str) -> str:
    """A section with its heading, and a place to link to."""
    return f'<section id="{name}">\n<h2>{escape(title)}</h2>\n{"".join(parts)}</section>\n'


def paragraph(text: str) -> str:
    """Plain text as a paragraph."""
    return f"<p>{escape(text)}</p>\n"


def listed(texts: Sequence[str]) -> str:
    """Plain texts as a list; nothing where there are none."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f'<ul class="told">{items}</ul>\n' if items else ""


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "") -> str:
    """A table whose first column names the row; it scrolls sideways where it is too wide."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>\n'
        for row in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="scroll"><table>{title}<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n'


def facts(values: Mapping[str, object], *, kind: str = "facts") -> str:
    """Names and values; `kind` tiles shows them large, in a row."""
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in values.items())
    return f'<dl class="{kind}">{items}</dl>\n'


def folded(summary: str, content: str) -> str:
    """Something that opens when it is asked for."""
    return f"<details><summary>{escape(summary)}</summary>\n{content}</details>\n"


CSS = """
:root{--page:#fff;--ink:#1c2128;--soft:#59636e;--line:#d9dee4;--panel:#f5f7f9;--gold:#fff6dc;--gold-ink:#7a5600;
--out:#fdeeee;--out-ink:#9b2c2c;--in:#eaf3ff;--in-ink:#1d4f91}
@media(prefers-color-scheme:dark){:root{--page:#14171c;--ink:#e4e8ed;--soft:#9aa4b0;--line:#333a44;--panel:#1c2128;
--gold:#322a12;--gold-ink:#e9c46a;--out:#351c1f;--out-ink:#f0a3a3;--in:#16283f;--in-ink:#9cc4ff}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:2rem 1.25rem 4rem;max-width:68rem;background:var(--page);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .4rem;letter-spacing:-.01em}
h2{font-size:1.3rem;margin:3rem 0 .6rem;padding-top:1.2rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:0 0 .5rem}
p{margin:.5rem 0 1rem;max-width:46rem}
a{color:inherit}
.lede{font-size:1.05rem;max-width:50rem;margin:.8rem 0;padding-left:1.2rem}
.lede li,.told li{margin:.15rem 0}
.told{max-width:46rem;margin:.5rem 0 1rem;padding-left:1.2rem}
figcaption small{color:var(--soft)}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;margin:1rem 0 0;padding:0;font-size:.92rem}
dl.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.7rem;margin:1.4rem 0}
dl.tiles div{background:var(--panel);border-radius:.5rem;padding:.7rem .9rem;display:flex;flex-direction:column-reverse;
justify-content:flex-end}
dl.tiles dd{margin:0;font-size:1.35rem;font-weight:600;font-variant-numeric:tabular-nums;line-height:1.25}
dl.tiles dt{color:var(--soft);font-size:.85rem}
dl.facts{margin:.5rem 0 1.2rem;font-size:.92rem}
dl.facts div{display:grid;grid-template-columns:minmax(8rem,14rem) 1fr;gap:.2rem 1rem;padding:.3rem 0;
border-bottom:1px solid var(--line)}
dl.facts dt{color:var(--soft)}
dl.facts dd{margin:0;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.85rem}
pre{background:var(--panel);border-radius:.5rem;padding:.9rem 1rem;white-space:pre-wrap;
font:.88rem/1.5 ui-monospace,Menlo,Consolas,monospace}
.scroll{overflow-x:auto;margin:.8rem 0 1.2rem}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{text-align:left;color:var(--soft);padding-bottom:.4rem}
th,td{padding:.35rem .9rem .35rem 0;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child{text-align:left}
thead th{color:var(--soft);font-weight:500;vertical-align:bottom}
tbody th{font-weight:500}
details{margin:.6rem 0 1.2rem}
summary{cursor:pointer;color:var(--soft);font-size:.92rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr));gap:1.6rem 2rem;margin:1rem 0}
.chart{margin:0;min-width:0}
.chart.wide{margin:1rem 0}
figcaption{font-weight:600;font-size:.95rem;line-height:1.35}
figcaption small{display:block;font-weight:400;font-size:.85rem}
.plane{position:relative;height:11rem;margin-left:3.1rem}
.wide .plane{height:20rem}
.plane svg{display:block;width:100%;height:100%;overflow:visible}
.ys span{position:absolute;right:100%;margin-right:.5rem;transform:translateY(-50%);white-space:nowrap}
.xs{position:relative;height:1.3rem;margin:.2rem 0 0 3.1rem}
.xs span{position:absolute;transform:translateX(-50%);white-space:nowrap}
.ys,.xs,.yname,.xname{color:var(--soft);font-size:.78rem;line-height:1.3}
.yname{margin:.15rem 0 .6rem}
.xname{margin-left:3.1rem;text-align:center}
.legend{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;list-style:none;
margin:.5rem 0 0 3.1rem;padding:0;font-size:.85rem}
.legend li{display:flex;align-items:center;gap:.45rem}
.key{display:inline-block;flex:none;width:1.3rem;height:0;border-top:3px solid var(--c)}
.key.dash{border-top:2px dashed var(--c)}
.key.area{height:.75rem;border:0;background:var(--c);opacity:.45;border-radius:2px}
.key.bar{height:.75rem;width:.75rem;border:0;background:var(--c);border-radius:2px}
.key.dot,.key.ring{width:.7rem;height:.7rem;border:0;border-radius:50%;background:var(--c)}
.key.ring{background:none;border:3px solid var(--c)}
svg path{fill:none;vector-effect:non-scaling-stroke}
.grid{stroke:var(--line)}
.line{stroke:var(--c);stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}
.thin{stroke:var(--c);stroke-width:.9;opacity:.4}
.dash{stroke:var(--c);stroke-width:1.7;stroke-dasharray:5 4}
svg path.area{fill:var(--c);opacity:.32}
.bar{fill:var(--c)}
.whisker{stroke:var(--c);stroke-width:2}
.dot{stroke:var(--c);stroke-width:9;stroke-linecap:round}
.halo{stroke:var(--page);stroke-width:12;stroke-linecap:round}
.hole{stroke:var(--page);stroke-width:4;stroke-linecap:round}
.level{stroke:var(--soft);stroke-width:1.3;stroke-dasharray:2 4}
.wall{stroke:var(--line);stroke-width:1.5}
.hover{fill:transparent}
.hover:hover{fill:var(--soft);opacity:.12}
.question{margin:0 0 1.8rem}
.question ol{list-style:none;margin:0;padding:0;font-size:.92rem;display:grid;gap:.25rem}
.question li,.swap>div{
border-radius:.35rem;padding:.28rem .6rem .28rem 1.9rem;position:relative;background:var(--panel)}
.question li::before,.swap>div::before{position:absolute;left:.65rem;color:var(--soft);font-weight:600}
.question li.swap{padding:0;background:none;display:grid;grid-template-columns:1fr 1fr;gap:.25rem}
.question li.swap::before{content:none}
.question .gold{background:var(--gold)}
.question .gold::before{content:"\\2605";color:var(--gold-ink)}
.question .stays::before{content:"="}
.question .left{background:var(--out);color:var(--out-ink)}
.question .left::before{content:"\\2212";color:inherit}
.question .came{background:var(--in);color:var(--in-ink)}
.question .came::before{content:"+";color:inherit}
.pair{display:flex;flex-wrap:wrap;gap:0 1.5rem}
.pair>div{flex:1 1 auto;max-width:100%}
.pair table{width:100%}
.pair p{width:0;min-width:100%}
.judged{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),1fr));gap:1.6rem 2rem;margin:1rem 0}
.judged article{min-width:0}
.judged h4{font-size:.95rem;line-height:1.35;margin:0 0 .5rem}
.judged ol{list-style:none;margin:0;padding:0;font-size:.9rem}
.judged li{display:flex;justify-content:space-between;align-items:baseline;gap:.2rem 1rem;position:relative;
padding:.3rem .5rem .3rem 1.7rem;border-bottom:1px solid var(--line)}
.judged .gold{background:var(--gold)}
.judged .gold::before{content:"\\2605";color:var(--gold-ink);position:absolute;left:.4rem}
.judged p{margin:.4rem 0 0;color:var(--soft);font-size:.85rem}
.said{color:var(--soft);flex:none;font-size:.85rem}
.said.likely{color:var(--in-ink)}
.said.gibberish{color:var(--out-ink)}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media(max-width:40rem){th,td{padding-right:.55rem}tbody th:first-child{white-space:normal;min-width:6rem}
.worded .xs{font-size:.66rem}
body{padding:1.2rem 1rem 3rem}h1{font-size:1.5rem}.wide .plane{height:15rem}
.question li.swap{grid-template-columns:1fr}dl.tiles{grid-template-columns:1fr 1fr}
dl.facts div{grid-template-columns:1fr}}
@media print{.hover{display:none}details>*{display:block}}
"""
