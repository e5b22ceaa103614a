"""Options: what a verb may be given, by name, type and help; those that several verbs have, and those of `weft run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Queries = Annotated[Path, typer.Argument(help="A file of queries: queries.sql or queries.yaml.", show_default=False)]
Planner = Annotated[
    str | None,
    typer.Option(
        help="weave_share, shared, no_share, random, insert_then_weave, local_search, exhaustive, tri_weave, pairing, "
        "contiguous or optimal.",
        show_default="weave_share",
    ),
]
Technique = Annotated[
    str | None, typer.Option(help="How slices become answers: auto, or the name of one.", show_default="auto")
]
Slicing = Annotated[str | None, typer.Option(help="Where slices are cut: pairs, panes or cutty.", show_default="pairs")]
Price = Annotated[
    str | None,
    typer.Option(help="How operations are counted: operations, quick or refined.", show_default="operations"),
]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        help="Distinct values of what is grouped by: one number, or 'symbol, venue = 9000' and more, and then queries "
        "with different GROUP BYs may share.",
        show_default="1000, or what weft run measures",
    ),
]
Option = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        help="An option of the planner, name=value: steps (optimal), guard (weave_share), start and times "
        "(local_search), patience (random), seed (both). May be repeated.",
        show_default=False,
    ),
]
OfStream = Annotated[str, typer.Argument(help="The checkpoint folder of a stream.", show_default=False)]
Master = Annotated[str | None, typer.Option(help="Spark's master.", show_default="local[*]")]
Conf = Annotated[
    list[str] | None, typer.Option(help="A setting of Spark, key=value. May be repeated.", show_default=False)
]

Stream = Annotated[bool, typer.Option("--stream", help="Go on for as long as events come, from --from to --to.")]
Checkpoint = Annotated[
    str | None,
    typer.Option(help="Stream: the folder that the stream goes on from, after any stop."),
]
Schema = Annotated[
    str | None,
    typer.Option(
        help="Stream: the events' columns, as 'ts timestamp, symbol string, price double': of the JSON in Kafka's "
        "values, or of a folder's files.",
        show_default="of the files that are there",
    ),
]
Trigger = Annotated[
    str | None,
    typer.Option(
        help="Stream: a micro-batch every '10 seconds'; available-now takes what is there, and ends.",
        show_default="as soon as the last is done",
    ),
]
Watermark = Annotated[str | None, typer.Option(help="Stream: how late an event may be.", show_default="10 minutes")]
Future = Annotated[
    str | None,
    typer.Option(
        help="Stream: how far ahead of the clock an event may be; others are set aside.",
        show_default="1 day",
    ),
]
Late = Annotated[
    str | None,
    typer.Option(
        help="Stream: a folder that keeps what came too late, or from too far ahead.", show_default="counted only"
    ),
]
Idle = Annotated[
    str | None,
    typer.Option(
        help="Stream: close windows by the clock, so long behind it, when no events come. For live events only.",
        show_default="never",
    ),
]
Emit = Annotated[
    str | None,
    typer.Option(
        help="Stream: final: every answer. changed: those that differ from the one before.",
        show_default="final",
    ),
]
Empty = Annotated[bool, typer.Option("--empty", help="Stream: say when a group's window has become empty.")]
ToFormat = Annotated[
    str | None,
    typer.Option(help="Stream: of a folder of answers: parquet, json, csv or orc.", show_default="parquet"),
]
FromOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Stream: an option of Spark's source, key=value, as subscribe=trades. May be repeated.",
        show_default=False,
    ),
]
ToOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Stream: an option of Spark's sink, key=value, as topic=answers. May be repeated.",
        show_default=False,
    ),
]
Registry = Annotated[Path, typer.Argument(help="The folder of the registry.", show_default=False)]
Reason = Annotated[str, typer.Option(help="Why, for the history.", show_default=False)]
