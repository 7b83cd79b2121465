CREATE TABLE IF NOT EXISTS topics (
	id    INTEGER PRIMARY KEY,
	name  TEXT NOT NULL UNIQUE,
	block INTEGER NOT NULL -- used in this block, and perhaps in a few after it
) STRICT;

-- What holders say about themselves, written again now and then instead of looked up: no index.
CREATE TABLE IF NOT EXISTS holders (
	id     INTEGER PRIMARY KEY,
	name   TEXT NOT NULL,
	reason TEXT NOT NULL,
	host   TEXT NOT NULL,
	pid    INTEGER NOT NULL, -- 0: not said
	block  INTEGER NOT NULL  -- as in topics; rises with id
) STRICT;

-- Times are milliseconds since 1970 (UTC), durations milliseconds.
CREATE TABLE IF NOT EXISTS events (
	id     INTEGER PRIMARY KEY,
	topic  INTEGER NOT NULL,
	at     INTEGER NOT NULL,
	kind   INTEGER NOT NULL, -- 1 acquired, 2 renewed, 3 released, 4 expired, 5 force-released, 6 reclaimed
	lease  INTEGER NOT NULL, -- the lease's public id, 64 bits
	holder INTEGER NOT NULL,
	fence  INTEGER NOT NULL,
	slot   INTEGER NOT NULL,
	ttl    INTEGER NOT NULL,
	lasted INTEGER -- an acquired one: the wait before it, NULL without; the end of a lease: how long it was held
) STRICT;

-- What only few events have.
CREATE TABLE IF NOT EXISTS notes (
	event  INTEGER PRIMARY KEY,
	by     TEXT NOT NULL,
	detail TEXT NOT NULL
) STRICT;

-- Block n has the events with ids from n*2048 to n*2048+2047. The sets are topic ids, ascending, each as the
-- difference from the one before in a varint; NULL when empty.
CREATE TABLE IF NOT EXISTS blocks (
	id       INTEGER PRIMARY KEY,
	earliest INTEGER NOT NULL,
	latest   INTEGER NOT NULL,
	changes  BLOB, -- topics with events other than renewals
	renewals BLOB  -- topics with renewals
) STRICT;

CREATE VIEW IF NOT EXISTS history AS
SELECT e.id,
	strftime('%Y-%m-%dT%H:%M:%fZ', e.at / 1000.0, 'unixepoch') AS time,
	t.name AS topic,
	CASE e.kind WHEN 1 THEN 'acquired' WHEN 2 THEN 'renewed' WHEN 3 THEN 'released' WHEN 4 THEN 'expired'
		WHEN 5 THEN 'force-released' WHEN 6 THEN 'reclaimed' END AS event,
	format('%016x', e.lease) AS lease_id, h.name, h.reason, h.host, nullif(h.pid, 0) AS pid, e.fence, e.slot,
	e.ttl / 1000.0 AS ttl,
	CASE WHEN e.kind = 1 THEN e.lasted / 1000.0 END AS waited,
	CASE WHEN e.kind IN (3, 4, 5) THEN e.lasted / 1000.0 END AS held,
	n.by, n.detail
FROM events e
LEFT JOIN topics t ON t.id = e.topic
LEFT JOIN holders h ON h.id = e.holder
LEFT JOIN notes n ON n.event = e.id;
