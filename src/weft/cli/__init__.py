"""The command line: `weft explain`, `weft run`, `weft view`, `weft demo`, `weft bench`.

In: files of queries and events. Out: plans on the terminal, answers, an exit code. It is the
outermost room, and the only one that starts a Spark session of its own.

    app.py        the program, its verbs, its version
    options.py    what verbs may be given
    explain.py    run.py    stream.py    view.py    state.py    demo.py    bench.py      a verb each
    planning.py   queries and stats to a plan, by options
    session.py    the Spark session: the one that is active, or one of our own
    events.py     a folder of events to a DataFrame; what can be measured of it
    answers.py    answers to a folder, and back
    sources.py    sinks.py    where a stream comes from, and where it goes
    checkpoint.py what a stream was begun with
    live.py       a running stream on the terminal
    check.py      answers against Spark's own window()
    trades.py     the demo's stream and workload
    progress.py   tasklog.py    what is going on, as it goes on
    console.py    failures.py   what is said, and how it ends
"""

from weft.cli.app import main

__all__ = ["main"]
