"""What is asked: windows, queries and workloads, and the ways to write them down.

In: SQL in three spellings, YAML, Python objects, arrays. Out: a `Workload`, checked, that any later room can trust.
Next room: `slicing`, which cuts the stream where the windows begin and end.

    window.py       Window: range, slide, offset, delay; durations.py reads "10 min"
    expressions.py  the white list of expressions; parse.py reads it from text
    tokens.py       words, names, constants and signs, with their places; constants.py types numbers and dates as Spark
    shapes.py       expressions with their constants blanked
    query.py        Query: measures, window, filter, keys, HAVING
    workload.py     Workload: many queries over one stream
    sql.py          SQL in, with Spark's window(), the papers' brackets.py or Flink's hop.py; render.py: SQL out
    yaml_form.py    YAML in and out
"""
