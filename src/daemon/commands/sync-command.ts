import { MirrorError } from "../../base/errors.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { RunRequest } from "../runs/company-run.ts";

/** What a `sync` asks of the process that holds the mirror; as it stands in the order's row. */
export interface SyncCommand {
  /** Table names. */
  readonly resources: readonly string[];
  readonly full: boolean;
  readonly allowMassDelete: boolean;
  readonly acceptIdentity: boolean;
  readonly mostRequests: number | null;
  /** Wall clock: the run's time is over then, begun or not; null: it may take what it takes. */
  readonly untilMs: number | null;
}

export function syncCommandOf(asked: Omit<RunRequest, "closed">, untilMs: number | null): SyncCommand {
  const { full, allowMassDelete, acceptIdentity, mostRequests } = asked;
  const resources = asked.resources.map(({ name }) => name);
  return { resources, full, allowMassDelete, acceptIdentity, mostRequests: mostRequests ?? null, untilMs };
}

/** What the row asks for. Throws MirrorError `usage` for what another version may have written. */
export function requestOf(options: unknown, manifest: Manifest, closed: AbortSignal): RunRequest {
  const order = options as Partial<SyncCommand> | null;
  const names = order?.resources ?? [];
  const resources = manifest.resources.filter(({ name }) => names.includes(name));
  if (resources.length === 0 || resources.length !== names.length)
    throw new MirrorError("usage", "the order names tables that this daemon does not know", {
      hint: "Run the same version of fintoro-mirror as the daemon, or restart the daemon.",
    });
  return {
    resources,
    full: order?.full === true,
    allowMassDelete: order?.allowMassDelete === true,
    acceptIdentity: order?.acceptIdentity === true,
    mostRequests: order?.mostRequests ?? undefined,
    closed,
  };
}

export function untilOf(options: unknown): number | null {
  return (options as Partial<SyncCommand> | null)?.untilMs ?? null;
}
