import { createHash } from "node:crypto";
import { MirrorError } from "../../base/errors.ts";

/** Whom a mirror belongs to (I10). The token itself is never stored: only a salted fingerprint. */
export interface Identity {
  readonly name: string;
  readonly salt: string;
  readonly fingerprint: string;
  /** From document snapshots; null until one was mirrored. */
  readonly businessId: string | null;
}

export interface SeenIdentity {
  readonly name: string;
  readonly token: string;
  /** The service's company's business id as far as it is known; null when it is not. */
  readonly businessId: string | null;
}

export type IdentityVerdict =
  | { readonly kind: "first" | "same" | "renamed" | "rotated" }
  | { readonly kind: "refused"; readonly why: string };

export function fingerprintOf(token: string, salt: string): string {
  return createHash("sha256").update(`${salt}:${token}`).digest("hex");
}

/** Pure: what a token and a company name mean for a mirror that has known them before. */
export function judgeIdentity(pinned: Identity | null, seen: SeenIdentity): IdentityVerdict {
  if (!pinned) return { kind: "first" };
  const sameToken = fingerprintOf(seen.token, pinned.salt) === pinned.fingerprint;
  const sameName = pinned.name === seen.name;
  if (sameToken) return { kind: sameName ? "same" : "renamed" };
  if (!sameName) {
    return { kind: "refused", why: `the mirror is of "${pinned.name}", this token is of "${seen.name}"` };
  }
  const differs =
    pinned.businessId !== null && seen.businessId !== null && pinned.businessId !== seen.businessId;
  if (!differs) return { kind: "rotated" };
  const why = `both are called "${seen.name}", but the mirror's business id is ${pinned.businessId} and this token's is ${seen.businessId}`;
  return { kind: "refused", why };
}

export function refusal(why: string): MirrorError {
  return new MirrorError("identity", `this token belongs to another company: ${why}`, {
    hint: "Nothing was written. Check the token, or use --accept-identity if the company really is the same.",
  });
}
