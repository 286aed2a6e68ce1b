import type { RecordId } from "../../base/ids.ts";
import { MirrorError } from "../../base/errors.ts";
import type { Lane, WorkKind } from "../../base/lane.ts";
import { snakeCase } from "../../base/names.ts";
import { resourceNamed, type ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import { pathOf, type Resource } from "../../connector/resource.ts";
import { ForbiddenError, InvalidError, NotFoundError } from "../../connector/service-errors.ts";
import type { ServiceRequest, Transport } from "../../connector/transport.ts";
import { readCompanyName, readObject } from "../../extract/answers.ts";
import { isObject } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import { fingerprintOf, Meta, pinnedIdentity, type PinnedIdentity } from "../../state/meta.ts";
import type { Mirror } from "../../state/mirror.ts";
import { WorkQueue } from "../../state/work-queue.ts";
import { Records } from "../../store/tables/stored-records.ts";
import type { WorkerParts } from "../context/run-context.ts";

type IdentifyParts = Omit<WorkerParts, "queue" | "clock" | "mirror"> & { readonly mirror: JudgedMirror };

export type Identified = Awaited<ReturnType<typeof identify>>;

/**
 * Finds out which company the token belongs to, before anything is written (I10). Writes nothing itself. Each
 * request is sent once: the caller tries again.
 *
 * @throws MirrorError `identity` when the mirror is of another company, `protocol` when the answer names none, and
 *   what the transport throws
 */
export async function identify(
  { mirror, transport, tally, token, random, log }: IdentifyParts,
  options: { readonly acceptIdentity: boolean; readonly lane: Lane; readonly signal: AbortSignal },
) {
  const { acceptIdentity, lane, signal } = options;
  const how = (kind: WorkKind) => ({ lane, once: true, signal, onSent: () => tally.sent(kind) });
  const { answer, name } = await askWhoami(transport, mirror.declaration, how("list"));
  const verdict = await judgeToken(mirror, { name, token }, async (path) => {
    const { body } = await transport.send({ method: "GET", path, expect: "json", ...how("detail") });
    return body;
  });
  if (verdict.kind === "refused" && !acceptIdentity) throw verdict.error;
  const pinned = pinnedIdentity(new Meta(mirror.db));
  if (pinned && verdict.kind === "same") return { answer, identity: pinned, changed: false };
  if ("why" in verdict) log.warn(verdict.why);
  if (verdict.kind === "refused")
    log.warn(`the mirror of "${pinned?.name}" is used for "${name}" from now on (--accept-identity)`);
  const salt = pinned?.salt ?? random.uuid();
  const businessId = verdict.kind === "refused" ? null : (pinned?.businessId ?? null);
  const identity = { name, salt, fingerprint: fingerprintOf(token, salt), businessId };
  return { answer, identity, changed: true };
}

/** Asks the service for the name of the token's company, in one request. Throws MirrorError `protocol` where it names none. */
export async function askWhoami(
  transport: Transport,
  declaration: ConnectorDeclaration,
  how: Pick<ServiceRequest, "lane" | "once" | "signal" | "onSent">,
) {
  const { resource, nameField: field } = declaration.identity;
  const { list } = resourceNamed(declaration, resource);
  if (list.kind !== "single") throw new Error("broken promise: the identity is a single record");
  const { path } = list;
  const answer = await transport.send({ method: "GET", path, expect: "json", ...how });
  return { answer, name: readCompanyName(answer.body, { path, field }) };
}

/** What a token means for a mirror; `renamed` and `rotated` are accepted, and logged with `why`. */
type IdentityVerdict =
  | { readonly kind: "first" | "same" }
  | { readonly kind: "renamed" | "rotated"; readonly why: string }
  | { readonly kind: "refused"; readonly error: MirrorError };

type JudgedMirror = Pick<Mirror, "db" | "declaration">;

/** Sends GET for a path with the token that is judged; returns the body, throws what the transport throws. */
type AskService = (path: string) => Promise<Buffer>;

/** Records that are asked for, at most: each costs a request. */
const mostProofs = 3;

/**
 * Judges whether a token is of the company the mirror belongs to (I10). A known token needs no request. An unknown
 * one of the same name needs a proof: a record of the mirror that the service shows it under the same id with the
 * same stable value. Name and business id prove nothing: a sandbox company beside production has both. A mirror
 * without such a record refuses the token: its user knows better.
 *
 * @throws what `ask` throws when the service cannot answer: that is no refusal
 */
export async function judgeToken(
  mirror: JudgedMirror,
  /** The name of its company as the service gives it. */
  seen: { readonly name: string; readonly token: string },
  ask: AskService,
): Promise<IdentityVerdict> {
  const pinned = pinnedIdentity(new Meta(mirror.db));
  if (!pinned) return { kind: "first" };
  const sameName = pinned.name === seen.name;
  if (fingerprintOf(seen.token, pinned.salt) === pinned.fingerprint) {
    if (sameName) return { kind: "same" };
    return { kind: "renamed", why: `the company was renamed from "${pinned.name}" to "${seen.name}"` };
  }
  if (!sameName) return refused(`the mirror is of ${nameOf(pinned)}, this token is of "${seen.name}"`);
  return proveCompany(mirror, pinned, ask);
}

async function proveCompany(
  mirror: JudgedMirror,
  pinned: PinnedIdentity,
  ask: AskService,
): Promise<IdentityVerdict> {
  const differences: string[] = [];
  for (const proof of proofsOf(mirror)) {
    const difference = await compare(proof, ask);
    if (difference === null) {
      const why = `the token of ${nameOf(pinned)} was replaced: ${describe(proof)} is the same at the service`;
      return { kind: "rotated", why };
    }
    differences.push(`${describe(proof)} ${difference}`);
  }
  const why =
    differences.length > 0 ? differences.join(", ") : "the mirror holds no record that could prove it";
  return refused(`the token is new, the name "${pinned.name}" the same, but ${why}`);
}

/**
 * Is a copy of a mirror of the same company as the mirror that is there? One that no run has read belongs to nobody.
 * Two that were begun apart, or of a new token and name, need a record that both show with the same stable value: names prove nothing.
 */
export function isSameCompany(mirror: JudgedMirror, copy: JudgedMirror): boolean {
  const [pinned, copied] = [mirror, copy].map(({ db }) => pinnedIdentity(new Meta(db)));
  if (!pinned) return true;
  if (!copied) return false;
  const isSameName = pinned.name === copied.name || pinned.fingerprint === copied.fingerprint;
  if (pinned.salt === copied.salt && isSameName) return true;
  const records = new Records(mirror.db);
  return proofsOf(copy).some(
    ({ resource, id, field, value }) => records.texts(resource.name, id, [snakeCase(field)])[0] === value,
  );
}

/** A record of the mirror, and the value by which the service must show it. */
interface IdentityProof {
  readonly resource: Resource;
  readonly id: RecordId;
  readonly field: string;
  readonly value: string;
}

/** Up to three live records, one of each kind as far as possible, the newest of it first. */
function proofsOf({ db, declaration }: JudgedMirror): IdentityProof[] {
  const records = new Records(db);
  const queue = new WorkQueue(db);
  for (const { field, resources } of declaration.identity.proofs) {
    const kinds = resources.map((name) => {
      const resource = resourceNamed(declaration, name);
      return queue.routeProbes(records, name, null).flatMap((id): IdentityProof[] => {
        const [value] = records.texts(name, id, [snakeCase(field)]);
        return value === null || value === undefined ? [] : [{ resource, id, field, value }];
      });
    });
    const turns = Array.from({ length: mostProofs }, (_, turn) => kinds.flatMap((kind) => kind[turn] ?? []));
    const proofs = turns.flat().slice(0, mostProofs);
    if (proofs.length > 0) return proofs;
  }
  return [];
}

/** How the service's record differs; null: it is the same. */
async function compare({ resource, id, field, value }: IdentityProof, ask: AskService) {
  try {
    const record = parseLossless(readObject(await ask(pathOf(resource.detail ?? "", id))));
    const there = isObject(record) ? record[field] : undefined;
    if (there === value) return null;
    return typeof there === "string" ? `has ${field} "${there}" at the service` : `shows no ${field}`;
  } catch (error) {
    const isAnswer = error instanceof NotFoundError && error.serviceMessage !== null;
    if (isAnswer || error instanceof ForbiddenError || error instanceof InvalidError)
      return `answers ${error.status}`;
    throw error;
  }
}

/** `invoice 812 (uuid "b7…")` */
function describe({ resource, id, field, value }: IdentityProof): string {
  return `${resource.singular.replaceAll("_", " ")} ${id} (${field} "${value}")`;
}

function nameOf({ name, businessId }: PinnedIdentity): string {
  return businessId === null ? `"${name}"` : `"${name}" (business id ${businessId})`;
}

function refused(why: string): IdentityVerdict {
  const hint =
    "Nothing was written. Use a token of the company that is mirrored; a sandbox company of the same name is " +
    "another one. If it really is the same company, run `fintoro-mirror sync --accept-identity` once.";
  const error = new MirrorError("identity", `this token belongs to another company: ${why}`, { hint });
  return { kind: "refused", error };
}
