import { createHash } from "node:crypto";
import { identityKey, pinnedIdentity, type PinnedIdentity } from "../../state/meta.ts";
import type { Mirror } from "../../state/mirror.ts";

export function rememberIdentity(mirror: Mirror, identity: PinnedIdentity): void {
  mirror.meta.set(identityKey, identity);
}

/** Stores the business id of the mirrored documents after a run. Writes only when it has changed. */
export function learnBusinessId(mirror: Mirror): void {
  const identity = pinnedIdentity(mirror.meta);
  const { businessIdColumn, businessIdIn } = mirror.manifest.identity;
  const businessId = mirror.records.latestValue(businessIdIn, businessIdColumn);
  if (!identity || businessId === null || businessId === identity.businessId) return;
  mirror.apply(() => rememberIdentity(mirror, { ...identity, businessId }));
}

export function fingerprintOf(token: string, salt: string): string {
  return createHash("sha256").update(`${salt}:${token}`).digest("hex");
}
