import { MirrorError } from "../../../base/errors.ts";
import { soleCompany } from "../../../config/companies.ts";
import type { CompanyConfig, Config } from "../../../config/config.ts";
import { mirrorFiles } from "../../../config/mirror-files.ts";
import { lockHolder, takeWriterLock } from "../../../store/writer-lock.ts";
import { openMirror } from "../../../state/mirror.ts";
import { DaemonCommands } from "../../../state/daemon-commands.ts";
import { openDatabase } from "../../../store/database.ts";
import { InboxView } from "../../../state/inbox/inbox-view.ts";
import type { InboxState } from "../../../state/inbox/inbox.ts";
import { CompanyIngest, type ReplayResult } from "../../../webhook/ingest/ingest.ts";
import { replayRemotely } from "../../../daemon/commands/remote-replay.ts";
import { emptyKeyring } from "../../../webhook/keys/keyring.ts";
import { WorkQueue } from "../../../state/work-queue.ts";
import { printResult } from "../../console/output.ts";
import { selectResources } from "../../mirror/selected-resources.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandOptions, CommandRun } from "../../program/command-table.ts";
import type { Ending } from "../../program/exit-code.ts";
import { openExisting } from "../../mirror/open-mirror.ts";
import { readSince } from "./since.ts";

/** The events to replay: by id, or all received since a time, of one state or of any. */
type ReplayChoice =
  | { readonly ids: readonly string[] }
  /** `since`: ISO. */
  | { readonly since: string; readonly state: InboxState | null };

export const webhooksReplayCommand: CommandRun<"webhooksReplay"> = async (
  context,
  { args, options, loaded: { config } },
) => {
  const company = soleCompany(config, context.globals.company);
  const ids = idsOf(config, company, choiceOf(args, options, context.clock.nowMs()));
  const beside = lockHolder(mirrorFiles(config, company.name).lock)?.command === "serve";
  const perform = beside ? byDaemon : byOurselves;
  return print(context, company, await perform(context, config, company, ids), beside);
};

function choiceOf(
  ids: readonly string[],
  { since, state }: CommandOptions<"webhooksReplay">,
  nowMs: number,
): ReplayChoice {
  if (since !== undefined && ids.length > 0)
    throw new MirrorError("usage", "event ids and --since exclude each other");
  if (since !== undefined) return { since: readSince(since, nowMs), state: state ?? null };
  if (ids.length === 0)
    throw new MirrorError("usage", "which events? Give their ids, or --since", {
      hint: "`webhooks inbox` shows the ids",
    });
  if (state !== undefined) throw new MirrorError("usage", "--state goes with --since");
  return { ids };
}

/** Ids in the order of receipt; ids of the command line as they are, known or not. */
function idsOf(config: Config, company: CompanyConfig, choice: ReplayChoice): readonly string[] {
  const db = openExisting(config, company);
  try {
    if ("ids" in choice) return [...new Set(choice.ids)];
    return new InboxView(db).idsSince(choice.since, choice.state);
  } finally {
    db.close();
  }
}

const timeoutMs = 30_000;

async function byDaemon(
  { clock, signal }: CommandContext,
  config: Config,
  company: CompanyConfig,
  ids: readonly string[],
): Promise<ReplayResult> {
  const files = mirrorFiles(config, company.name);
  const db = openDatabase(files.mirror);
  try {
    const isDaemonThere = () => lockHolder(files.lock)?.command === "serve";
    const commands = new DaemonCommands(db);
    return await replayRemotely({ commands, clock, signal, isDaemonThere, timeoutMs }, ids);
  } finally {
    db.close();
  }
}

/**
 * Replays without a daemon.
 * @throws MirrorError `locked` while another command writes the mirror
 */
async function byOurselves(
  { clock, connectors }: CommandContext,
  config: Config,
  company: CompanyConfig,
  ids: readonly string[],
): Promise<ReplayResult> {
  const files = mirrorFiles(config, company.name);
  const { manifest } = connectors[0];
  const lock = takeWriterLock(files.lock, "webhooks replay");
  try {
    const mirror = await openMirror(files.mirror, manifest, {}, clock);
    try {
      const selected = new Set(selectResources(manifest, config.resources, []).map(({ name }) => name));
      const queue = new WorkQueue(mirror.db);
      const ingest = new CompanyIngest({ mirror, queue, selected, keyring: emptyKeyring });
      return ingest.replay(ids, clock.nowMs());
    } finally {
      mirror.close();
    }
  } finally {
    lock.release();
  }
}

async function print(
  context: CommandContext,
  company: CompanyConfig,
  { queued, unread, missing }: ReplayResult,
  beside: boolean,
): Promise<Ending> {
  const replayed = queued + unread;
  const then = beside ? "the daemon reads them now" : "`sync` reads them";
  const next = queued > 0 ? then : "there is nothing to read";
  if (missing.length > 0)
    context.log.error(`no such event: ${missing.join(", ")}`, { hint: "`webhooks inbox` shows the ids" });
  const line = `${company.name}: replayed ${replayed} (${queued} to read, ${unread} without anything to read); ${next}`;
  await printResult(context, { company: company.name, replayed, queued, unread, missing, next }, [line]);
  return missing.length > 0 ? "failed" : "complete";
}
