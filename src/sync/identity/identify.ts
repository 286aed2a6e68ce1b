import { createHash } from "node:crypto";
import { MirrorError } from "../../base/errors.ts";
import type { Lane } from "../../base/lane.ts";
import { resourceNamed } from "../../connector/connector-manifest.ts";
import { pathOf, type Resource } from "../../connector/resource.ts";
import type { ServiceAnswer, ServiceRequest } from "../../connector/transport.ts";
import { readList, readObject } from "../../extract/answers.ts";
import { parseLossless } from "../../json/lossless.ts";
import type { Meta } from "../../state/meta.ts";
import type { Mirror } from "../../state/mirror.ts";
import { isObject } from "../../json/literal.ts";
import { cellsOf } from "../../store/tables/row-decoder.ts";
import type { WorkerParts } from "../context/run-context.ts";

const metaKey = "identity";

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

/** How the company is asked for. */
export interface IdentifyOptions {
  readonly acceptIdentity: boolean;
  readonly lane: Lane;
  /** False: one attempt only, for callers that try again themselves. */
  readonly repeatable: boolean;
  readonly signal: AbortSignal;
}

type Question = WorkerParts & IdentifyOptions;

/** The company of the token, and what is to be stored of it. */
export interface Identified {
  readonly answer: ServiceAnswer;
  readonly identity: Identity;
  readonly changed: boolean;
}

/**
 * Finds out which company the token belongs to, before anything is written (I10). Writes nothing itself.
 *
 * @throws MirrorError `identity` when the mirror is of another company, and what the transport throws
 */
export async function identify(parts: WorkerParts, options: IdentifyOptions): Promise<Identified> {
  const { mirror, token, random, log } = parts;
  const question = { ...parts, ...options };
  const { identity: facts } = mirror.manifest;
  const resource = resourceNamed(mirror.manifest, facts.resource);
  const answer = await ask(question, resource.list.kind === "single" ? resource.list.path : "");
  const name = nameIn(answer.body, facts.nameField);
  const pinned = pinnedIdentity(mirror.meta);
  const sameToken = pinned && fingerprintOf(token, pinned.salt) === pinned.fingerprint;
  const businessId = pinned && !sameToken && pinned.name === name ? await probeBusinessId(question) : null;
  const verdict = judgeIdentity(pinned, { name, token, businessId });
  if (verdict.kind === "refused" && !options.acceptIdentity) throw verdict.error;
  if (pinned && verdict.kind !== "first") {
    if (verdict.kind === "same") return { answer, identity: pinned, changed: false };
    log.warn(notices[verdict.kind](pinned.name, name));
  }
  const salt = pinned?.salt ?? random.uuid();
  const keep = verdict.kind === "refused" ? null : (pinned?.businessId ?? null);
  const identity = { name, salt, fingerprint: fingerprintOf(token, salt), businessId: keep };
  return { answer, identity, changed: true };
}

const notices = {
  renamed: (before: string, now: string) => `the company was renamed from "${before}" to "${now}"`,
  rotated: (_before: string, now: string) => `the token of "${now}" was replaced`,
  refused: (before: string, now: string) =>
    `the mirror of "${before}" is used for "${now}" from now on (--accept-identity)`,
};

/** The company a mirror belongs to; null before its first run. */
export function pinnedIdentity(meta: Meta): Identity | null {
  return meta.get(metaKey) as Identity | null;
}

/** Pins the mirror to this company, inside the apply transaction. */
export function rememberIdentity(mirror: Mirror, identity: Identity): void {
  mirror.meta.set(metaKey, identity);
}

/** Stores the business id of the mirrored documents after a run. Writes only when it has changed. */
export function learnBusinessId(mirror: Mirror): void {
  const identity = pinnedIdentity(mirror.meta);
  const { businessIdColumn, businessIdIn } = mirror.manifest.identity;
  const businessId = mirror.records.latestValue(businessIdIn, businessIdColumn);
  if (!identity || businessId === null || businessId === identity.businessId) return;
  mirror.apply(() => rememberIdentity(mirror, { ...identity, businessId }));
}

/** The business id in one document of the token's company; null when there is no document. */
async function probeBusinessId(question: Question): Promise<string | null> {
  const { mirror } = question;
  const { businessIdColumn, businessIdIn } = mirror.manifest.identity;
  for (const name of businessIdIn) {
    const body = await firstRecord(question, resourceNamed(mirror.manifest, name));
    if (!body) continue;
    const record = parseLossless(body);
    const { plan } = mirror.table(name);
    const i = plan.columns.findIndex((column) => column.name === businessIdColumn);
    const cell = isObject(record) ? (cellsOf(plan, record)[i] ?? null) : null;
    if (cell !== null) return String(cell);
  }
  return null;
}

async function firstRecord(question: Question, { list, gives, detail }: Resource): Promise<Buffer | null> {
  if (list.kind !== "paged") return null;
  const { body } = await ask(question, list.path, { ...list.params, perPage: 1, page: 1 });
  const { records } = readList(body);
  const id = records.count > 0 ? records.id(0) : null;
  if (id === null) return null;
  if (gives === "full" || detail === undefined) return records.slice(0);
  return readObject((await ask(question, pathOf(detail, BigInt(id)))).body);
}

function ask(question: Question, path: string, query: ServiceRequest["query"] = {}): Promise<ServiceAnswer> {
  const { transport, tally, lane, repeatable, signal } = question;
  const onSent = () => tally.sent("list");
  return transport.send({ method: "GET", path, query, expect: "json", lane, repeatable, signal, onSent });
}

function nameIn(body: Buffer, field: string): string {
  const record = parseLossless(readObject(body));
  const name = isObject(record) ? record[field] : undefined;
  return typeof name === "string" ? name : "";
}

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
