import type { Postgres } from "../../../src/fleet/postgres/connection.ts";

/**
 * Deferred triggers see the owner as it is when a transaction commits: a write that another owner overtook is judged
 * under that one. A connection's `application_name` is the name of its node.
 */
const installSql = `
CREATE SCHEMA judge;
CREATE TABLE judge.found (what text NOT NULL);
CREATE TABLE judge.takeovers (company text NOT NULL, took interval NOT NULL);
CREATE FUNCTION judge.say(what text) RETURNS void LANGUAGE sql AS 'INSERT INTO judge.found VALUES (what)';
CREATE FUNCTION judge.ownership() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE writer text := current_setting('application_name');
BEGIN
  -- Whether nodes died of a company is no part of its ownership, and any node may decide on it.
  IF TG_OP = 'UPDATE' AND (NEW.epoch, NEW.node, NEW.expires_at) IS NOT DISTINCT FROM (OLD.epoch, OLD.node, OLD.expires_at) THEN
    RETURN NULL;
  END IF;
  IF coalesce(NEW.node, OLD.node) <> writer THEN
    PERFORM judge.say(format('the ownership of %s by %s was written by %s', NEW.company, coalesce(NEW.node, OLD.node), writer));
  END IF;
  IF TG_OP = 'INSERT' OR NEW.epoch = OLD.epoch THEN RETURN NULL; END IF;
  IF NEW.epoch <> OLD.epoch + 1 THEN
    PERFORM judge.say(format('epoch %s of %s followed %s', NEW.epoch, NEW.company, OLD.epoch));
  END IF;
  IF OLD.node IS NOT NULL AND OLD.expires_at > clock_timestamp() THEN
    PERFORM judge.say(format('epoch %s of %s was claimed while the one before lived', NEW.epoch, NEW.company));
  END IF;
  INSERT INTO judge.takeovers SELECT NEW.company, clock_timestamp() - OLD.expires_at WHERE OLD.node IS NOT NULL;
  RETURN NULL;
END $$;
CREATE FUNCTION judge.write() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  writer text := current_setting('application_name');
  after jsonb := to_jsonb(NEW);
  before jsonb := CASE WHEN TG_OP = 'UPDATE' THEN to_jsonb(OLD) END;
  owner record;
BEGIN
  IF TG_TABLE_NAME = 'inbox_heads' AND after->'drained' = coalesce(before->'drained', '0') THEN RETURN NULL; END IF;
  SELECT epoch, node INTO owner FROM fintoro_mirror.owners WHERE company = NEW.company;
  IF owner.node IS DISTINCT FROM writer OR (after->>'epoch')::bigint <> owner.epoch THEN
    PERFORM judge.say(format('%s of %s was written by %s under %s, epoch %s', TG_TABLE_NAME, NEW.company, writer, owner.node, owner.epoch));
  END IF;
  IF TG_TABLE_NAME <> 'inbox_heads' AND (after->>'seq')::bigint < (before->>'seq')::bigint THEN
    PERFORM judge.say(format('%s of %s went back to %s', TG_TABLE_NAME, NEW.company, after->>'seq'));
  END IF;
  RETURN NULL;
END $$;`;

const triggerSql = (table: string) =>
  `CREATE CONSTRAINT TRIGGER judge AFTER INSERT OR UPDATE ON fintoro_mirror.${table}
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION judge.${table === "owners" ? "ownership" : "write"}()`;

/** From now on each write of what only a company's owner may write is judged in its own transaction. */
export async function judgeWrites(postgres: Postgres): Promise<void> {
  await postgres.query(installSql);
  for (const table of ["owners", "snapshots", "changes", "inbox_heads", "reports"])
    await postgres.query(triggerSql(table));
}

export async function wrongWrites(postgres: Postgres): Promise<string[]> {
  const rows = await postgres.query<{ what: string }>("SELECT DISTINCT what FROM judge.found ORDER BY what");
  return rows.map(({ what }) => what);
}

/** How long each company that was lost waited for its next owner, from the end of its lease on, s. */
export async function takeoversS(postgres: Postgres): Promise<number[]> {
  const sql = "SELECT extract(epoch FROM took)::float8 AS s FROM judge.takeovers";
  return (await postgres.query<{ s: number }>(sql)).map(({ s }) => s);
}
