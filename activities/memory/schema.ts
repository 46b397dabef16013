import { firstElo } from '../../src/domain/elo.js';

/**
 * What takes the file from one version to the next, oldest first; `PRAGMA user_version` counts those that ran. An entry
 * that has been released is never edited.
 *
 * Nothing is ever changed or removed but `mirrored`. Ratings are a view over the changes, so that they cannot disagree
 * with what was stored, and a trace that is stored again changes nothing.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE traces (
    number INTEGER PRIMARY KEY,
    trace_id TEXT NOT NULL UNIQUE,
    work_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at TEXT NOT NULL,
    mirrored INTEGER NOT NULL DEFAULT 0,
    document TEXT NOT NULL
  ) STRICT;
  CREATE INDEX traces_by_time ON traces (tenant, created_at DESC, number DESC);
  CREATE INDEX traces_to_mirror ON traces (number) WHERE mirrored = 0;

  CREATE TABLE elo_changes (
    tenant TEXT NOT NULL,
    persona_id TEXT NOT NULL,
    trace INTEGER NOT NULL REFERENCES traces (number),
    delta REAL NOT NULL,
    success INTEGER NOT NULL,
    PRIMARY KEY (tenant, persona_id, trace)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX elo_changes_of_trace ON elo_changes (trace);
  CREATE VIEW ratings AS
    SELECT tenant, persona_id, ${firstElo} + sum(delta) AS elo, count(*) AS matches, sum(success) AS successes
    FROM elo_changes GROUP BY tenant, persona_id;

  CREATE TABLE vectors (
    trace INTEGER NOT NULL REFERENCES traces (number),
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    embedder TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (tenant, embedder, trace)
  ) STRICT;

  CREATE VIRTUAL TABLE trace_words USING fts5 (
    task, summary, tags, content = '', tokenize = 'unicode61 remove_diacritics 2'
  );
  `,
];
