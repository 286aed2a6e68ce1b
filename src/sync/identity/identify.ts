import type { Lane } from "../../base/lane.ts";
import type { Random } from "../../base/random.ts";
import { resourceNamed } from "../../connector/connector-manifest.ts";
import { pathOf, type Resource } from "../../connector/resource.ts";
import type { ServiceAnswer, ServiceRequest, Transport } from "../../connector/transport.ts";
import { readList, readObject } from "../../extract/answers.ts";
import { parseLossless } from "../../json/lossless.ts";
import type { Meta } from "../../state/meta.ts";
import type { Mirror } from "../../state/mirror.ts";
import { isObject } from "../../json/literal.ts";
import { cellsOf } from "../../store/tables/row-decoder.ts";
import { fingerprintOf, judgeIdentity, refusal, type Identity } from "./identity-verdict.ts";

const metaKey = "identity";

export interface IdentifyParts {
  readonly mirror: Mirror;
  readonly transport: Transport;
  readonly token: string;
  readonly random: Random;
  readonly acceptIdentity: boolean;
  /** `list` when not given. */
  readonly lane?: Lane;
  /** One attempt alone: whoever asks again by himself has no use for more. */
  readonly once?: boolean;
  readonly signal: AbortSignal;
  readonly onRequest: () => void;
  readonly onNotice: (message: string) => void;
}

/** Whom the token speaks for, and what is to be remembered of it. Writes nothing. */
export interface Identified {
  readonly answer: ServiceAnswer;
  readonly identity: Identity;
  readonly changed: boolean;
}

/** Asks who the token is of, before anything is written (I10). Throws MirrorError `identity`. */
export async function identify(parts: IdentifyParts): Promise<Identified> {
  const { mirror, token } = parts;
  const { identity: facts } = mirror.manifest;
  const resource = resourceNamed(mirror.manifest, facts.resource);
  const answer = await ask(parts, resource.list.kind === "single" ? resource.list.path : "");
  const name = nameIn(answer.body, facts.nameField);
  const pinned = pinnedIdentity(mirror.meta);
  const sameToken = pinned && fingerprintOf(token, pinned.salt) === pinned.fingerprint;
  const businessId = pinned && !sameToken && pinned.name === name ? await probeBusinessId(parts) : null;
  const verdict = judgeIdentity(pinned, { name, token, businessId });
  if (verdict.kind === "refused" && !parts.acceptIdentity) throw refusal(verdict.why);
  if (verdict.kind === "same" && pinned) return { answer, identity: pinned, changed: false };
  if (verdict.kind !== "first") parts.onNotice(noticeOf(verdict.kind, pinned?.name ?? "", name));
  const salt = pinned?.salt ?? parts.random.uuid();
  const keep = verdict.kind === "refused" ? null : (pinned?.businessId ?? null);
  return {
    answer,
    identity: { name, salt, fingerprint: fingerprintOf(token, salt), businessId: keep },
    changed: true,
  };
}

/** Whom the mirror is of; null before its first run. */
export function pinnedIdentity(meta: Meta): Identity | null {
  return meta.get(metaKey) as Identity | null;
}

export function rememberIdentity(mirror: Mirror, identity: Identity): void {
  mirror.meta.set(metaKey, identity);
}

/** After a run: the business id that the mirrored documents carry. Writes only when it is news. */
export function learnBusinessId(mirror: Mirror): void {
  const identity = pinnedIdentity(mirror.meta);
  const { businessIdColumn, businessIdIn } = mirror.manifest.identity;
  const businessId = mirror.records.latestValue(businessIdIn, businessIdColumn);
  if (!identity || businessId === null || businessId === identity.businessId) return;
  mirror.apply(() => rememberIdentity(mirror, { ...identity, businessId }));
}

function noticeOf(kind: "same" | "renamed" | "rotated" | "refused", before: string, now: string): string {
  if (kind === "renamed") return `the company was renamed from "${before}" to "${now}"`;
  if (kind === "rotated") return `the token of "${now}" was changed`;
  return `the mirror of "${before}" now takes "${now}", as --accept-identity asks`;
}

/** One document of the token's company, for its business id; null when it has none. */
async function probeBusinessId(parts: IdentifyParts): Promise<string | null> {
  const { businessIdColumn, businessIdIn } = parts.mirror.manifest.identity;
  for (const name of businessIdIn) {
    const resource = resourceNamed(parts.mirror.manifest, name);
    const body = await firstRecord(parts, resource);
    if (!body) continue;
    const record = parseLossless(body);
    const { plan } = parts.mirror.table(name);
    const i = plan.columns.findIndex((column) => column.name === businessIdColumn);
    const cell = isObject(record) ? (cellsOf(plan, record)[i] ?? null) : null;
    if (cell !== null) return String(cell);
  }
  return null;
}

async function firstRecord(parts: IdentifyParts, resource: Resource): Promise<Buffer | null> {
  if (resource.list.kind !== "paged") return null;
  const list = await ask(parts, resource.list.path, { ...resource.list.params, perPage: 1, page: 1 });
  const { records } = readList(list.body);
  const id = records.count > 0 ? records.id(0) : null;
  if (id === null) return null;
  if (resource.gives === "full" || resource.detail === undefined) return records.slice(0);
  const detail = await ask(parts, pathOf(resource.detail, BigInt(id)));
  return readObject(detail.body);
}

function ask(
  parts: IdentifyParts,
  path: string,
  query: ServiceRequest["query"] = {},
): Promise<ServiceAnswer> {
  return parts.transport.send({
    method: "GET",
    path,
    query,
    expect: "json",
    lane: parts.lane ?? "list",
    ...(parts.once ? { repeatable: false } : {}),
    signal: parts.signal,
    onSent: parts.onRequest,
  });
}

function nameIn(body: Buffer, field: string): string {
  const record = parseLossless(readObject(body));
  const name = isObject(record) ? record[field] : undefined;
  return typeof name === "string" ? name : "";
}
