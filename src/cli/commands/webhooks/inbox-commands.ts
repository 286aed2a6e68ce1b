import { isCalendarDay, isoTime } from "../../../base/clock.ts";
import { MirrorError } from "../../../base/errors.ts";
import { shortText } from "../../../base/terminal-text.ts";
import { parseDurationMs } from "../../../base/units.ts";
import { selectResources } from "../../../config/companies.ts";
import { EventIds } from "../../../state/inbox/event-ids.ts";
import type { Db } from "../../../store/database.ts";
import { InboxView, type InboxRow } from "../../../state/inbox/inbox.ts";
import {
  isDaemonThere,
  readExisting,
  soleScope,
  writeExisting,
  type CompanyScope,
} from "../../mirror/company-scope.ts";
import type { CommandRun, CommandOptions } from "../../program/command-table.ts";
import { usualInboxCount } from "../../program/serving-commands.ts";
import { someOf } from "../../../base/names.ts";
import { WorkQueue } from "../../../state/work-queue.ts";
import { CompanyIngest, type ReplayResult } from "../../../webhook/ingest/ingest.ts";
import { askDaemon } from "../../../host/commands.ts";
import { emptyKeyring } from "../../../webhook/keys/keyring.ts";

export const inboxCommand: CommandRun<"webhooks inbox"> = async (context, { args, options, config }) => {
  const scope = soleScope(context, config);
  const { since, resource, state, limit = usualInboxCount } = options;
  if (resource !== undefined) selectResources(scope.declaration, config.resources, [resource]);
  const from = since === undefined ? undefined : readSince(since, context.clock.nowMs());
  await readExisting(scope, async (db) => {
    const chosen = args.length > 0 ? { seqs: numbersOf(db, args) } : {};
    const found = new InboxView(db).list({ most: limit + 1, since: from, state, resource, ...chosen });
    const rows = found.slice(0, limit).toReversed();
    if (found.length > limit)
      context.log.info(`there are more than these ${limit}: --limit, --since, --state and --resource choose`);
    if (found.length === 0) context.log.info(`${scope.company.name}: no such events are stored`);
    const document = { company: scope.company.name, deliveries: rows.map(viewOf) };
    await context.print(document, rows.flatMap(linesOf));
  });
  return "complete";
};

/** Throws MirrorError `not_found` for an id of which no event is stored. */
function numbersOf(db: Db, eventIds: readonly string[]): number[] {
  const ids = new EventIds(db);
  return eventIds.map((eventId) => {
    const seq = ids.find(eventId);
    if (seq !== null) return seq;
    throw new MirrorError("not_found", `no such event: ${eventId}`, {
      hint: "`webhooks inbox` shows the ids",
    });
  });
}

function viewOf({ body, done_at, ...facts }: InboxRow) {
  const row = { ...facts, ["settled_at"]: done_at };
  if (body === undefined) return row;
  if (typeof body === "number") return { ...row, body: null, pruned_bytes: body };
  return { ...row, ...(typeof body === "string" ? { body } : { body_base64: body.toString("base64") }) };
}

function linesOf(row: InboxRow): string[] {
  const { body } = row;
  if (body === undefined) return [lineOf(row)];
  const pruned = `the body was pruned (retention.inbox_bodies); it had ${String(body)} bytes`;
  return [lineOf(row), `  ${typeof body === "number" ? pruned : body.toString()}`];
}

function lineOf(row: InboxRow): string {
  const what = [shortText(row.type ?? "-"), row.resource_id ?? ""].join(" ").trimEnd();
  const request = row.request_id === null ? "" : `  ${row.request_id}`;
  return `${row.received_at}  ${what}  ${outcomeText(row)}  ${shortText(row.event_id)}${request}`;
}

function outcomeText({ state, outcome, problem, work }: InboxRow): string {
  if (state === "done") return outcome ?? "done";
  if (work?.state === "dead") return `dead letter (${work.error ?? "no reason kept"})`;
  if (work?.error) return `${state} (tried ${work.attempts} times: ${work.error})`;
  return problem === null ? state : `${state} (${problem})`;
}

/** Reads how long ago, or a date or time, UTC without a zone, as people write it. Gives ISO text. Throws MirrorError `usage`. */
function readSince(text: string, nowMs: number): string {
  const agoMs = parseDurationMs(text);
  if (agoMs !== null) return isoTime(Math.max(0, nowMs - agoMs));
  const match = /^(.{10})([T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?)?(Z|[+-]\d\d:\d\d)?$/.exec(text.trim());
  const [moment = "", day = "", time, , , zone] = match ?? [];
  const zoned = time !== undefined && zone === undefined ? `${moment}Z` : moment;
  const atMs = isCalendarDay(day) ? Date.parse(zoned.replace(" ", "T")) : Number.NaN;
  if (!Number.isNaN(atMs)) return isoTime(atMs);
  throw new MirrorError(
    "usage",
    `--since must be a duration such as 2h or 3d, or a time such as 2026-11-21T08:00Z (it is "${text}")`,
  );
}

export const replayCommand: CommandRun<"webhooks replay"> = async (context, { args, options, config }) => {
  const scope = soleScope(context, config);
  const ids = await chosenEvents(scope, args, options);
  const beside = isDaemonThere(scope);
  const { queued, unread, missing, pruned } = await replay(scope, ids, beside);
  const replayed = queued + unread;
  const then = beside ? "the daemon reads them now" : "`sync` reads them";
  const next = queued > 0 ? then : "there is nothing to read";
  if (missing.length > 0)
    context.log.error(`no such event: ${missing.join(", ")}`, { hint: "`webhooks inbox` shows the ids" });
  if (pruned.length > 0)
    context.log.error(`the bodies of ${pruned.length} events were pruned: ${someOf(pruned, 10)}`, {
      hint: "They cannot be evaluated again (`retention.inbox_bodies`); `sync` finds what they were about.",
    });
  const company = scope.company.name;
  const line = `${company}: replayed ${replayed} (${queued} to read, ${unread} without anything to read); ${next}`;
  await context.print({ company, replayed, queued, unread, missing, pruned, next }, [line]);
  return missing.length + pruned.length > 0 ? "failed" : "complete";
};

/** Ids in the order of receipt; ids of the command line as they are, known or not. */
async function chosenEvents(
  scope: CompanyScope,
  ids: readonly string[],
  { since, state }: CommandOptions<"webhooks replay">,
): Promise<readonly string[]> {
  if (since !== undefined && ids.length > 0)
    throw new MirrorError("usage", "event ids and --since exclude each other");
  if (since === undefined && ids.length === 0)
    throw new MirrorError("usage", "which events? Give their ids, or --since", {
      hint: "`webhooks inbox` shows the ids",
    });
  if (since === undefined && state !== undefined) throw new MirrorError("usage", "--state goes with --since");
  const from = since === undefined ? null : readSince(since, scope.context.clock.nowMs());
  return readExisting(scope, (db) =>
    from === null ? [...new Set(ids)] : new InboxView(db).idsSince(from, state ?? null),
  );
}

/** A daemon that holds the mirror does it, else this process. Throws MirrorError `locked` while another one writes the mirror. */
async function replay(scope: CompanyScope, ids: readonly string[], beside: boolean): Promise<ReplayResult> {
  const { context, resources, files } = scope;
  if (beside) {
    const command = { kind: "replay", options: { ids } } as const;
    return (await askDaemon(files.socket, command, context.signal)) as ReplayResult;
  }
  return writeExisting(scope, "webhooks replay", (mirror) => {
    const selected = new Set(resources.map(({ name }) => name));
    const queue = new WorkQueue(mirror.db);
    const ingest = new CompanyIngest({ mirror, queue, selected, keyring: emptyKeyring });
    return ingest.replay(ids, context.clock.nowMs());
  });
}
