import { createHash } from "node:crypto";
import { MirrorError } from "../../base/errors.ts";

/** The company a mirror belongs to (I10). The token itself is never stored, only a salted fingerprint. */
export interface Identity {
  readonly name: string;
  readonly salt: string;
  readonly fingerprint: string;
  /** From document snapshots; null until one was mirrored. */
  readonly businessId: string | null;
}

/** What the service shows of the company of a token; the business id is null when it is not known. */
export interface SeenIdentity extends Pick<Identity, "name" | "businessId"> {
  readonly token: string;
}

/** What a token means for a mirror; `renamed` and `rotated` are accepted and logged. */
export type IdentityVerdict =
  | { readonly kind: "first" | "same" | "renamed" | "rotated" }
  | { readonly kind: "refused"; readonly error: MirrorError };

/** SHA-256 of the salted token, hexadecimal. */
export function fingerprintOf(token: string, salt: string): string {
  return createHash("sha256").update(`${salt}:${token}`).digest("hex");
}

/** Compares the company of a token with the one the mirror is pinned to (I10). Pure. */
export function judgeIdentity(pinned: Identity | null, seen: SeenIdentity): IdentityVerdict {
  if (!pinned) return { kind: "first" };
  const sameName = pinned.name === seen.name;
  if (fingerprintOf(seen.token, pinned.salt) === pinned.fingerprint)
    return { kind: sameName ? "same" : "renamed" };
  if (!sameName) return refused(`the mirror is of "${pinned.name}", this token is of "${seen.name}"`);
  if (pinned.businessId === null || seen.businessId === null || pinned.businessId === seen.businessId)
    return { kind: "rotated" };
  const ids = `the mirror's business id is ${pinned.businessId} and this token's is ${seen.businessId}`;
  return refused(`both are called "${seen.name}", but ${ids}`);
}

function refused(why: string): IdentityVerdict {
  const hint =
    "Nothing was written. Check the token, or use --accept-identity if the company really is the same.";
  const error = new MirrorError("identity", `this token belongs to another company: ${why}`, { hint });
  return { kind: "refused", error };
}
