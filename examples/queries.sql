-- Ten questions about one stream of trades (ts, symbol, venue, price, volume), in the three spellings that Weft reads.
-- Plan them:  weft explain examples/queries.sql --rate 5000 --keys 1000
-- Run them:   weft run examples/queries.sql --from trades/ --to answers/ --check 5

-- Spark's spelling: the window is in GROUP BY, and the answer has the columns of the SELECT list.

-- name: high
-- owner: trading desk
SELECT window.start, window.end, symbol, max(price) AS high, min(price) AS low
FROM trades
GROUP BY symbol, window(ts, '10 minutes', '2 minutes');

-- name: vwap
-- owner: trading desk
SELECT window, symbol, sum(price * volume) / sum(volume) AS vwap
FROM trades
GROUP BY symbol, window(ts, '5 minutes', '1 minute');

-- name: busy
-- owner: operations
SELECT window.end AS at, symbol, count(*) AS trades
FROM trades
GROUP BY symbol, window(ts, '1 minute', '30 seconds')
HAVING count(*) >= 5;

-- name: venues
-- owner: operations
SELECT window, venue, sum(volume) AS volume
FROM trades
WHERE volume >= 100
GROUP BY venue, window(ts, '15 minutes', '5 minutes', '1 minute');

-- The papers' spelling: the window stands behind the stream. The answer has the window, the keys and the measures.

-- name: spread
-- owner: risk
SELECT stddev_samp(price) AS spread, avg(price) AS mean
FROM trades [RANGE 5 MIN SLIDE 2 MIN ON ts]
GROUP BY symbol;

-- name: swing
-- owner: risk
SELECT max(price) - min(price) AS swing
FROM trades [RANGE 150 S SLIDE 1 MIN ON ts]
WHERE price > 100
GROUP BY symbol;

-- name: market
SELECT count(*) AS trades, sum(volume) AS volume
FROM trades [RANGE 1 MIN ON ts];

-- name: late
SELECT avg(price) AS mean
FROM trades [RANGE 10 MIN SLIDE 2 MIN DELAY 30 S ON ts]
GROUP BY symbol;

-- Flink's spelling: the slide comes before the size.

-- name: large
SELECT window_start, window_end, symbol, count(*) AS trades
FROM HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '10' MINUTE)
WHERE volume >= 500
GROUP BY window_start, window_end, symbol;

-- name: turnover
SELECT window_end, venue, sum(price * volume) AS turnover
FROM TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '5' MINUTE)
GROUP BY window_end, venue;
