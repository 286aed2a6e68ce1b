import { MirrorError } from "../../base/errors.ts";
import { soleCompany } from "../../config/companies.ts";
import { parseLossless } from "../../json/lossless.ts";
import { stringifyLossless } from "../../json/lossless.ts";
import { Changes, type Change } from "../../store/apply/change-reader.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandRun } from "../program/command-table.ts";
import { openExisting } from "../mirror/open-mirror.ts";
import { selectResources } from "../mirror/selected-resources.ts";

const followEveryMs = 500;

export const changesCommand: CommandRun<"changes"> = async (context, { options, loaded: { config } }) => {
  const company = soleCompany(config, context.globals.company);
  if (options.follow && context.globals.json)
    throw new MirrorError("usage", "--json and --follow exclude each other");
  const manifest = context.connectors[0].manifest;
  const resource = options.resource ?? null;
  if (resource !== null) selectResources(manifest, config.resources, [resource]);
  const db = openExisting(config, company);
  try {
    const changes = new Changes(db);
    const since = options.since ?? 0;
    if (context.globals.json) await printDocument(context, changes, since, resource);
    else await printLines(context, changes, since, resource, options.follow);
  } finally {
    db.close();
  }
  return "complete";
};

async function printLines(
  context: CommandContext,
  changes: Changes,
  since: number,
  resource: string | null,
  follow: boolean,
): Promise<void> {
  let seq = since;
  for (;;) {
    const some = changes.after(seq, resource);
    for (const change of some) await context.output.line(changeLine(change));
    seq = some.at(-1)?.seq ?? seq;
    if (context.signal.aborted || (some.length === 0 && !follow)) return;
    if (some.length === 0) await context.clock.sleep(followEveryMs, context.signal);
  }
}

/** One document, but never the whole of it in memory. */
async function printDocument(
  context: CommandContext,
  changes: Changes,
  since: number,
  resource: string | null,
): Promise<void> {
  let seq = since;
  await context.output.line('{"changes":[');
  let comma = "";
  for (let some = changes.after(seq, resource); some.length > 0; some = changes.after(seq, resource)) {
    for (const change of some) {
      await context.output.line(comma + changeLine(change));
      comma = ",";
    }
    seq = some.at(-1)?.seq ?? seq;
  }
  await context.output.line(`],"next_since":${seq}}`);
}

/** `before` and `after` are set in as they were received, number literals included. */
function changeLine(change: Change): string {
  const facts = {
    resource: change.resource,
    op: change.op,
    at: change.at,
    cause: change.cause,
    request_id: change.requestId,
  };
  const head = `{"seq":${change.seq},"record_id":${change.recordId},${JSON.stringify(facts).slice(1, -1)}`;
  return `${head},"before":${oneLine(change.before)},"after":${oneLine(change.after)}}`;
}

function oneLine(json: string | null): string {
  if (json === null) return "null";
  return /[\r\n]/.test(json) ? stringifyLossless(parseLossless(json)) : json;
}
