import { MirrorError } from "../../base/errors.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { RunRequest } from "../runs/company-run.ts";

/** What a `sync` asks of the daemon, as the command's options in `_orders`. */
export interface SyncCommand {
  /** Table names. */
  readonly resources: readonly string[];
  readonly full: boolean;
  readonly allowMassDelete: boolean;
  readonly acceptIdentity: boolean;
  readonly mostRequests: number | null;
  /** Epoch milliseconds when the run's time is over, begun or not; null: never. */
  readonly untilMs: number | null;
}

/** Writes a request as a command's options. */
export function formatSyncCommand(request: Omit<RunRequest, "closed">, untilMs: number | null): SyncCommand {
  const { full, allowMassDelete, acceptIdentity, mostRequests = null } = request;
  const resources = request.resources.map(({ name }) => name);
  return { resources, full, allowMassDelete, acceptIdentity, mostRequests, untilMs };
}

/** Reads a command's options. Throws MirrorError `usage` for tables that only another version knows. */
export function parseSyncCommand(options: unknown, manifest: Manifest, closed: AbortSignal): RunRequest {
  const command = options as Partial<SyncCommand> | null;
  const names = command?.resources ?? [];
  const resources = manifest.resources.filter(({ name }) => names.includes(name));
  if (resources.length === 0 || resources.length !== names.length)
    throw new MirrorError("usage", "the command names tables that this daemon does not know", {
      hint: "Run the same version of fintoro-mirror as the daemon, or restart the daemon.",
    });
  return {
    resources,
    full: command?.full === true,
    allowMassDelete: command?.allowMassDelete === true,
    acceptIdentity: command?.acceptIdentity === true,
    mostRequests: command?.mostRequests ?? undefined,
    closed,
  };
}

/** Epoch milliseconds when the run's time is over; null: never. */
export function endOfSyncCommand(options: unknown): number | null {
  return (options as Partial<SyncCommand> | null)?.untilMs ?? null;
}
