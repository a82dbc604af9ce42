/**
 * Schema of one log, as migration steps that are applied once and in order; a released step never changes.
 * marks: highest line number accepted from each workload that writes this log, except the one that wrote last: the newest pack has its mark.
 * packs: the tail, several lines a row (LOG-36). `dropped_n` and `dropped_end_byte` are the position of the last line that the tail dropped,
 * and only those of the newest pack are valid, as are its `workload_id`, `taken_seq` and `taken_at`.
 * `end_byte` counts the bytes of the log up to a line, dropped ones included, so that no sum is ever needed.
 * segments: older lines in the bucket; `latest_at` is the latest of their times, which need not rise from line to line.
 */
export const POD_LOG_SCHEMA: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE streams (workload_id TEXT PRIMARY KEY, taken_seq INTEGER NOT NULL, taken_at INTEGER NOT NULL) WITHOUT ROWID;
   CREATE TABLE lines (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, source TEXT NOT NULL, line TEXT NOT NULL, end_byte INTEGER NOT NULL);`,
  'CREATE TABLE segments (last_n INTEGER PRIMARY KEY, first_n INTEGER NOT NULL, latest_at INTEGER NOT NULL);',
  // Segments written before this step count with the size limit of a segment.
  'ALTER TABLE segments ADD COLUMN bytes INTEGER NOT NULL DEFAULT 262144;',
  // LOG-36: lines move into packs of at most 128 lines and 8 KiB of text, and the line that exceeds this. The views serve the release before
  // this step, which reads, adds and drops lines through them, so that a plane that is rolled back loses none.
  `CREATE TABLE packs (
     first_n INTEGER PRIMARY KEY,
     last_n INTEGER NOT NULL,
     earliest_at INTEGER NOT NULL,
     latest_at INTEGER NOT NULL,
     end_byte INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     dropped_n INTEGER NOT NULL,
     dropped_end_byte INTEGER NOT NULL,
     workload_id TEXT,
     taken_seq INTEGER,
     taken_at INTEGER,
     lines TEXT NOT NULL
   );
   INSERT INTO packs
     SELECT MIN(n), MAX(n), MIN(at), MAX(at), MAX(end_byte), length(CAST(group_concat(text, ',' ORDER BY n) AS BLOB)),
       first - 1, first_end_byte, NULL, NULL, NULL, group_concat(text, ',' ORDER BY n)
     FROM (SELECT n, at, end_byte, json_array(at, source, line, end_byte) AS text FROM lines),
       (SELECT n AS first, end_byte - length(CAST(line AS BLOB)) AS first_end_byte FROM lines ORDER BY n LIMIT 1)
     GROUP BY n / 128, end_byte / 8192;
   DROP TABLE lines;
   ALTER TABLE streams RENAME TO marks;
   CREATE VIEW lines AS
     SELECT first_n + one.key AS n, json_extract(one.value, '$[0]') AS at, json_extract(one.value, '$[1]') AS source,
       json_extract(one.value, '$[2]') AS line, json_extract(one.value, '$[3]') AS end_byte
     FROM packs, json_each('[' || lines || ']') AS one
     WHERE first_n + one.key > (SELECT dropped_n FROM packs ORDER BY first_n DESC LIMIT 1);
   CREATE VIEW streams AS
     SELECT workload_id, taken_seq, taken_at FROM packs WHERE first_n = (SELECT MAX(first_n) FROM packs) AND workload_id IS NOT NULL
     UNION ALL SELECT workload_id, taken_seq, taken_at FROM marks
       WHERE workload_id IS NOT (SELECT workload_id FROM packs ORDER BY first_n DESC LIMIT 1);
   CREATE TRIGGER lines_insert INSTEAD OF INSERT ON lines BEGIN
     INSERT OR REPLACE INTO marks (workload_id, taken_seq, taken_at)
       SELECT workload_id, taken_seq, taken_at FROM packs WHERE first_n = (SELECT MAX(first_n) FROM packs) AND workload_id IS NOT NULL;
     INSERT INTO packs SELECT NEW.n, NEW.n, NEW.at, NEW.at, NEW.end_byte,
       length(CAST(json_array(NEW.at, NEW.source, NEW.line, NEW.end_byte) AS BLOB)),
       COALESCE((SELECT dropped_n FROM packs ORDER BY first_n DESC LIMIT 1), NEW.n - 1),
       COALESCE((SELECT dropped_end_byte FROM packs ORDER BY first_n DESC LIMIT 1), NEW.end_byte - length(CAST(NEW.line AS BLOB))),
       NULL, NULL, NULL, json_array(NEW.at, NEW.source, NEW.line, NEW.end_byte);
   END;
   CREATE TRIGGER lines_delete INSTEAD OF DELETE ON lines BEGIN
     UPDATE packs SET dropped_n = OLD.n, dropped_end_byte = OLD.end_byte
       WHERE first_n = (SELECT MAX(first_n) FROM packs) AND dropped_n < OLD.n;
     DELETE FROM packs WHERE last_n = OLD.n AND first_n < (SELECT MAX(first_n) FROM packs);
   END;
   CREATE TRIGGER streams_insert INSTEAD OF INSERT ON streams BEGIN
     INSERT OR REPLACE INTO marks (workload_id, taken_seq, taken_at) VALUES (NEW.workload_id, NEW.taken_seq, NEW.taken_at);
   END;
   CREATE TRIGGER streams_delete INSTEAD OF DELETE ON streams BEGIN
     DELETE FROM marks WHERE workload_id = OLD.workload_id;
   END;`,
]
