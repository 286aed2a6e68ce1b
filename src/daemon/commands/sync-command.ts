import { MirrorError } from "../../base/errors.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { RunRequest } from "../../runs/company-run.ts";

/** What a `sync` asks of the daemon, as the command's options in `_commands`. */
type SyncCommand = Omit<RunRequest, "resources" | "closed"> & {
  /** Table names. */
  readonly resources: readonly string[];
  /** Epoch milliseconds when the run's time is over, begun or not; null: never. */
  readonly untilMs: number | null;
};

/** Writes a request as a command's options. */
export function formatSyncCommand(request: RunRequest, untilMs: number | null): SyncCommand {
  const { full, quick, allowMassDelete, acceptIdentity, scrub, mostRequests, shard = null } = request;
  const resources = request.resources.map(({ name }) => name);
  return { resources, full, quick, allowMassDelete, acceptIdentity, scrub, mostRequests, shard, untilMs };
}

/**
 * Reads a command's options. `closedAt` gives the signal that aborts when the run's time is over.
 *
 * @throws MirrorError `usage` for tables that only another version knows
 */
export function parseSyncCommand(
  options: unknown,
  manifest: Manifest,
  closedAt: (untilMs: number | null) => AbortSignal,
): RunRequest {
  const { resources: names = [], untilMs = null, ...flags } = (options ?? {}) as Partial<SyncCommand>;
  const resources = manifest.resources.filter(({ name }) => names.includes(name));
  if (resources.length === 0 || resources.length !== names.length)
    throw new MirrorError("usage", "the command names tables that this daemon does not know", {
      hint: "Run the same version of fintoro-mirror as the daemon, or restart the daemon.",
    });
  return {
    resources,
    full: flags.full === true,
    quick: flags.quick === true,
    allowMassDelete: flags.allowMassDelete === true,
    acceptIdentity: flags.acceptIdentity === true,
    scrub: flags.scrub !== false,
    mostRequests: flags.mostRequests ?? undefined,
    shard: flags.shard ?? null,
    closed: closedAt(untilMs),
  };
}
