import { MirrorError } from "../../base/errors.ts";
import { soleCompany } from "../../config/companies.ts";
import { parseLossless } from "../../json/lossless.ts";
import { stringifyLossless } from "../../json/lossless.ts";
import { Changes, type Change } from "../../store/apply/change-reader.ts";
import type { CommandRun } from "../program/command-table.ts";
import { openExisting } from "../mirror/open-mirror.ts";
import { selectResources } from "../mirror/selected-resources.ts";

const followEveryMs = 500;

export const changesCommand: CommandRun<"changes"> = async (context, { options, loaded: { config } }) => {
  const { globals, connectors, output, clock, signal } = context;
  const { follow, resource = null, since = 0 } = options;
  const company = soleCompany(config, globals.company);
  if (follow && globals.json) throw new MirrorError("usage", "--json and --follow exclude each other");
  if (resource !== null) selectResources(connectors[0].manifest, config.resources, [resource]);
  const db = openExisting(config, company);
  const changes = new Changes(db);
  let seq = since;
  // In pieces: the whole log need not fit into memory. A JSON document is always finished.
  const printNew = async (separator: string) => {
    for (let some = changes.after(seq, resource); some.length > 0; some = changes.after(seq, resource)) {
      if (signal.aborted && !globals.json) return;
      for (const change of some) {
        await output.line(`${seq === since ? "" : separator}${changeLine(change)}`);
        seq = change.seq;
      }
    }
  };
  try {
    if (globals.json) await output.line('{"changes":[');
    await printNew(globals.json ? "," : "");
    if (globals.json) await output.line(`],"next_since":${seq}}`);
    if (!follow) return "complete";
    while (!signal.aborted) {
      await clock.sleep(followEveryMs, signal);
      await printNew("");
    }
  } finally {
    db.close();
  }
  return "complete";
};

/** A change as JSON. `before` and `after` are inserted as received, number literals included. */
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
