import { MirrorError } from "../../../base/errors.ts";
import { someOf } from "../../../base/names.ts";
import { InboxView } from "../../../state/inbox/inbox.ts";
import { WorkQueue } from "../../../state/work-queue.ts";
import { CompanyIngest, type ReplayResult } from "../../../webhook/ingest/ingest.ts";
import { askDaemon, reportIn } from "../../../daemon/commands/ask-daemon.ts";
import { emptyKeyring } from "../../../webhook/keys/keyring.ts";
import { printResult } from "../../console/output.ts";
import { readExisting, soleScope, writeExisting, type CompanyScope } from "../../mirror/company-scope.ts";
import { isDaemonThere } from "../../runs/remote-sync.ts";
import type { CommandOptions, CommandRun } from "../../program/command-table.ts";
import { readSince } from "./inbox-command.ts";

export const replayCommand: CommandRun<"webhooks replay"> = async (context, { args, options, loaded }) => {
  const scope = soleScope(context, loaded.config);
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
  await printResult(context, { company, replayed, queued, unread, missing, pruned, next }, [line]);
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
    return reportIn(await askDaemon(files.socket, command, context.signal)) as ReplayResult;
  }
  return writeExisting(scope, "webhooks replay", (mirror) => {
    const selected = new Set(resources.map(({ name }) => name));
    const queue = new WorkQueue(mirror.db);
    const ingest = new CompanyIngest({ mirror, queue, selected, keyring: emptyKeyring });
    return ingest.replay(ids, context.clock.nowMs());
  });
}
