-- Virtual keys of the gateway, by hash, and what was used under them by day.
CREATE TABLE keys (
  num INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  hash BLOB NOT NULL UNIQUE,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  revoked_ms INTEGER,
  body TEXT NOT NULL
) STRICT;
CREATE TABLE key_changes (last INTEGER NOT NULL) STRICT;
INSERT INTO key_changes VALUES (0);
CREATE TABLE spending (
  account TEXT NOT NULL,
  day INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_nanos INTEGER NOT NULL,
  untold_calls INTEGER NOT NULL,
  unpriced_calls INTEGER NOT NULL,
  PRIMARY KEY (account, day)
) STRICT, WITHOUT ROWID;
