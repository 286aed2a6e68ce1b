import { readJsonFile, writeFileAtomically } from "../base/files/atomic-file.ts";
import type { RecordRef } from "../base/ids.ts";
import { fingerprintOf, Meta, pinnedIdentity } from "../state/meta.ts";
import type { Db } from "../store/database.ts";
import { notAtService, type FieldDifference } from "./compare-record.ts";
import type { Comparison, Finding } from "./comparison.ts";

/** The command, such as `verify --sample 100`, when it ran, ISO, and how many requests it sent. */
interface VerifyRun {
  readonly by: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly requests: number;
}

/** What `verify --json` says of one company. */
export type VerifyFindings = ReturnType<typeof verifyFindings>;

export type NamedRecords = ReturnType<typeof namedOf>;

type Findings = readonly Finding[];

/** Builds the findings at the end, and `before` a repair; null: none was asked for. */
export function verifyFindings(
  comparison: Comparison,
  findings: Findings,
  before: Findings | null,
  run: VerifyRun & {
    /** Details that an interrupted verification compared before, and when it began, ISO. */
    readonly resumed: { readonly since: string; readonly details: number } | null;
  },
) {
  const { counts, deepReads, resources } = comparison;
  const uncompared = [...comparison.uncompared, ...withoutDetail(comparison)];
  const sum = (key: "mirror" | "details") => [...counts.values()].reduce((all, one) => all + one[key], 0);
  const named = resources.map(({ name }) => [name, resourceOf(comparison, name, findings, before)] as const);
  return {
    /** Everything asked for was compared, and nothing differs. */
    match: findings.length === 0 && uncompared.length === 0,
    ...run,
    /** Live rows that were compared with lists, and with the records that they were made of. */
    records_compared: sum("mirror"),
    details_compared: sum("details"),
    details_total: deepReads.length,
    /** What `--repair` found before, by resource, and how many of these records are right now; null: nothing differed. */
    ...(before && { repair: repairOf(before, findings) }),
    resources: Object.fromEntries(named),
    uncompared,
  };
}

function resourceOf({ counts, view }: Comparison, name: string, findings: Findings, before: Findings | null) {
  const { service = null, mirror = 0, provisional = 0, details = 0 } = counts.get(name) ?? {};
  const named = namedOf(findings, name);
  // A repair changes what is live.
  const live = before && before.length > 0 ? view.records.counts(name).live : mirror;
  const gone = named.extra.filter(({ why }) => why === notAtService).length;
  const known = live + named.missing.length + named.tombstoned.length - gone;
  return {
    /** Records at the service: as its lists show; of records without a list of their own, as far as compared. */
    service: service ?? known,
    mirror: live,
    /** Of those, rows of which only the preview is known. */
    provisional,
    details,
    ...named,
  };
}

function repairOf(before: Findings, after: Findings) {
  if (before.length === 0) return null;
  const names = [...new Set(before.map(({ resource }) => resource))];
  const found = Object.fromEntries(names.map((name) => [name, namedOf(before, name)]));
  return { found, repaired: before.length - after.length };
}

export function differenceCount({ resources }: Pick<VerifyFindings, "resources">): number {
  return Object.values(resources).reduce((sum, { missing, extra, different, tombstoned }) => {
    const ids = new Set(different.map(({ id }) => id));
    return sum + missing.length + extra.length + tombstoned.length + ids.size;
  }, 0);
}

function namedOf(findings: Findings, name: string) {
  const own = findings.filter(({ resource }) => resource === name);
  const sorted = own.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ids = (kind: Finding["verdict"]["kind"]) =>
    sorted.flatMap(({ id, verdict }) => (verdict.kind === kind ? [{ id }] : []));
  return {
    missing: ids("missing"),
    extra: sorted.flatMap(({ id, verdict }) => (verdict.kind === "extra" ? [{ id, why: verdict.why }] : [])),
    different: sorted.flatMap(({ id, verdict }) =>
      verdict.kind === "different" ? verdict.fields.map((field) => ({ id, ...field })) : [],
    ),
    /** Deleted in the mirror, alive at the service. */
    tombstoned: ids("tombstoned"),
  };
}

function withoutDetail({ counts }: Comparison) {
  return [...counts].flatMap(([resource, { provisional }]) => {
    const message = `${provisional} records have no detail in the mirror yet: only their previews were compared`;
    return provisional === 0 ? [] : [{ resource, id: null, message }];
  });
}

/** What `verify --month --json` says of one company: the certificate of a month. */
export type MonthFindings = ReturnType<typeof monthFindings>;

type MonthDifference = RecordRef & Partial<FieldDifference> & { readonly kind: Finding["verdict"]["kind"] };

/** Pure: the findings of a month. What a document owns, such as a payment, is compared with it. */
export function monthFindings(
  { deepReads, uncompared, equalReads }: Comparison,
  findings: Findings,
  before: Findings | null,
  run: VerifyRun & {
    readonly month: string;
    /** The mirror's position before it was compared; after a repair. */
    readonly log: string;
    readonly position: number;
  },
) {
  const match = findings.length === 0 && uncompared.length === 0;
  return {
    match,
    ...run,
    compared: deepReads.length,
    equal: match ? deepReads.length : equalReads,
    differences: findings.flatMap(({ resource, id, verdict }): MonthDifference[] =>
      verdict.kind === "different"
        ? verdict.fields.map((field) => ({ resource, id, kind: verdict.kind, ...field }))
        : [{ resource, id, kind: verdict.kind }],
    ),
    uncompared,
    repaired: before === null ? 0 : before.length - findings.length,
  };
}

/** What `status` says of the last `verify`. */
export type Proof = ReturnType<typeof proofOf>;

function proofOf(findings: VerifyFindings) {
  const { by, match, uncompared, resumed } = findings;
  const { records_compared, details_compared, details_total } = findings;
  return {
    /** ISO. */
    at: findings.finished_at,
    by,
    match,
    differences: differenceCount(findings),
    uncompared: uncompared.length,
    records_compared,
    details_compared,
    details_total,
    /** ISO; null: all in one go. */
    resumed_since: resumed?.since ?? null,
  };
}

/**
 * Stores what `verify` found in a file beside the mirror, because a daemon may hold the mirror itself.
 *
 * Guarantee: after a crash the file holds the old result or the new one. It names the mirror that it is about.
 * Source of truth: the file.
 * Worst outcome of a crash: the old result stays.
 */
export function writeProof(file: string, db: Db, findings: VerifyFindings): void {
  writeFileAtomically(file, `${JSON.stringify({ mirror: nameOfMirror(db), ...proofOf(findings) })}\n`);
}

/** What the last `verify` of this mirror found; null: none did, or the file is of another mirror. */
export function readProof(file: string, db: Db): Proof | null {
  const { mirror, ...proof } = readJsonFile<Proof & { readonly mirror: unknown }>(file) ?? {};
  return mirror === nameOfMirror(db) ? (proof as Proof) : null;
}

/** Another mirror of the same company has another name; null: it is of no company yet. */
export function nameOfMirror(db: Db): string | null {
  const salt = pinnedIdentity(new Meta(db))?.salt;
  return salt === undefined ? null : fingerprintOf("verified", salt);
}
