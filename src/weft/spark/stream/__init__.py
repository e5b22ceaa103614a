"""The stream: the same plan, micro-batch by micro-batch.

In: a streaming DataFrame and a plan. Out: a streaming DataFrame of answers, each window's once the watermark passes it.

    events -> one row each, in the JVM -> blocks of partials for each shard, over Arrow -> shuffle
           -> one stateful operator: partials stay, answers go -> the long form

    pipeline.py   the door: what Spark runs
    reading.py    which columns of the events the workers get, and the watermark
    folding.py    events become blocks, before the shuffle
    merging.py    partials of one group become one
    shards.py     shards, one to a partition
    blocks.py     the retained partials of some keys: sent, kept, merged, expired
    closing.py    which windows are due, and what is late
    keeping.py    what a shard has in the state store, and in memory
    aside.py      what came too late or from too far ahead, for those who want it kept
    tally.py      what a shard has counted
    observing.py  what a micro-batch did
    state.py      what a checkpoint holds, read from outside
    processor.py  the stateful operator

where the stream follows a registry:
    arriving.py   versions of the query set, on their way to the shards
    live.py       a version on a stream that runs
    roster.py     which queries a shard answers, and since when there is all that they read
    latecomers.py filters that came since, on their way to the events
    refitting.py  retained partials, where a stream that is started again keeps others
"""

from weft.spark.stream.live import Following
from weft.spark.stream.pipeline import weave

__all__ = ["Following", "weave"]
