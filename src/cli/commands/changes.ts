import { MirrorError } from "../../base/errors.ts";
import { selectResources } from "../../config/companies.ts";
import { readLog, seqAt } from "../../state/log-identity.ts";
import { fileAt } from "../../store/writer-lock.ts";
import { changeLine, Changes } from "../../store/apply/change-log.ts";
import type { CommandRun } from "../program/command-table.ts";
import { readExisting, soleScope } from "../mirror/company-scope.ts";

const followEveryMs = 500;

/** Prints the change log, in pieces: the whole of it need not fit into memory. */
export const changesCommand: CommandRun<"changes"> = async (context, { options, config }) => {
  const { globals, output, clock, signal } = context;
  const { follow, resource, since = { log: null, seq: 0 } } = options;
  const scope = soleScope(context, config);
  if (follow && globals.json) throw new MirrorError("usage", "--json and --follow exclude each other");
  const resources = resource === undefined ? null : [resource];
  if (resources) selectResources(scope.declaration, config.resources, resources);
  await readExisting(scope, async (db) => {
    const file = fileAt(db.name);
    const changes = new Changes(db);
    const start = seqAt(db, since);
    const { id: log } = readLog(db);
    let seq = start;
    const printNew = async () => {
      const end = changes.lastSeq();
      for (let some = changes.after(seq, resources); some.length > 0; some = changes.after(seq, resources)) {
        // A JSON document is always finished.
        if (signal.aborted && !globals.json) return;
        for (const change of some) {
          await output.jsonText(`${globals.json && seq !== start ? "," : ""}${changeLine(change, log)}`);
          seq = change.seq;
        }
      }
      // What was not asked for is behind, too, and may be removed.
      seq = Math.max(seq, end);
    };
    if (globals.json) await output.jsonText('{"changes":[');
    await printNew();
    if (globals.json) await output.jsonText(`],"log":"${log}","next_since":${seq}}`);
    if (!follow) return;
    while (!signal.aborted) {
      await clock.sleep(followEveryMs, signal);
      if (fileAt(db.name) !== file) throw replaced(scope.files.mirror);
      await printNew();
    }
  });
  return "complete";
};

function replaced(mirror: string): MirrorError {
  return new MirrorError("database", `the mirror was removed or replaced while it was followed: ${mirror}`, {
    hint: "Follow it again: `changes --since LOG:SEQ` with the last line's position goes on, or says how to begin anew.",
  });
}
