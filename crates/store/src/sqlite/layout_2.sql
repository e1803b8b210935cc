-- The latest state of sessions that are gone on from. `scope` and `ending` are 64 bits without a
-- sign, kept as the number with a sign that has the same bits.
CREATE TABLE kept (
  session INTEGER PRIMARY KEY,
  scope INTEGER NOT NULL,
  ending INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX kept_by_time ON kept (at_ms, session, scope, ending);
