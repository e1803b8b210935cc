-- Times are milliseconds since 1970.
CREATE TABLE sessions (
  num INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  last_control INTEGER NOT NULL,
  change INTEGER NOT NULL,
  changed_by TEXT NOT NULL,
  lease_epoch INTEGER NOT NULL,
  lease_owner TEXT,
  lease_until_ms INTEGER NOT NULL,
  state TEXT NOT NULL,
  title TEXT NOT NULL,
  agent TEXT,
  model TEXT,
  workspace TEXT,
  turns INTEGER NOT NULL,
  tool_calls INTEGER NOT NULL,
  tokens INTEGER,
  cost_nanos INTEGER,
  extra TEXT
) STRICT;
CREATE INDEX sessions_by_created ON sessions (created_ms, id);
CREATE INDEX sessions_by_change ON sessions (change);

CREATE TABLE entries (
  session INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX entries_by_seq ON entries (session, seq);

CREATE TABLE controls (
  session INTEGER NOT NULL,
  number INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  who TEXT NOT NULL,
  PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE timers (
  session INTEGER NOT NULL,
  name TEXT NOT NULL,
  due_ms INTEGER NOT NULL,
  PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX timers_by_due ON timers (due_ms);

-- One row: grows with every transaction that changes a session, so that others see which changed.
CREATE TABLE changes (last INTEGER NOT NULL) STRICT;
INSERT INTO changes VALUES (0);
