import { isoTime } from "../base/clock.ts";
import type { RecordId } from "../base/ids.ts";
import { notAtService } from "./compare/compare-record.ts";
import type { FieldDifference } from "./compare/differences.ts";
import type { Comparison, Uncompared } from "./comparison.ts";
import type { Finding } from "./name-differences.ts";

/** The records of one resource that differ. */
export interface NamedRecords {
  readonly missing: readonly { readonly id: RecordId }[];
  readonly extra: readonly { readonly id: RecordId; readonly why: string }[];
  readonly different: readonly ({ readonly id: RecordId } & FieldDifference)[];
  /** Deleted in the mirror, alive at the service. */
  readonly tombstoned: readonly { readonly id: RecordId }[];
}

/** What `verify --json` says of one resource. */
export interface VerifiedResource extends NamedRecords {
  /** Records at the service: as its lists show; of records without a list of their own, as far as compared. */
  readonly service: number;
  /** Live rows. */
  readonly mirror: number;
  /** Of those, rows of which only the preview is known. */
  readonly provisional: number;
  /** Details, or lists of parents, that were compared. */
  readonly details: number;
}

/** What `verify --json` says of one company. */
export interface VerifyReport {
  /** Everything asked for was compared, and nothing differs. */
  readonly match: boolean;
  /** The command: `verify --sample 100`. */
  readonly by: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly requests: number;
  /** Live rows that were compared with lists, and with the records that they were made of. */
  readonly records_compared: number;
  readonly details_compared: number;
  readonly details_total: number;
  /** Details that an interrupted verification compared before, and when it began, ISO. */
  readonly resumed: { readonly since: string; readonly details: number } | null;
  readonly resources: Readonly<Record<string, VerifiedResource>>;
  /** What `--repair` found before, by resource, and how many of these records are right now; null: nothing differed. */
  readonly repair?: {
    readonly found: Readonly<Record<string, NamedRecords>>;
    readonly repaired: number;
  } | null;
  readonly uncompared: readonly Uncompared[];
}

/** What a report is made of, besides the comparison. */
export interface ReportFacts {
  readonly by: string;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly requests: number;
  /** What differs at the end. */
  readonly findings: readonly Finding[];
  /** What differed before a repair; null: none was asked for. */
  readonly before: readonly Finding[] | null;
  readonly resumed: VerifyReport["resumed"];
}

/** Builds the report. */
export function verifyReport(comparison: Comparison, facts: ReportFacts): VerifyReport {
  const { counts, deepReads, resources } = comparison;
  const { by, startedAtMs, finishedAtMs, requests, findings, before, resumed } = facts;
  const uncompared = [...comparison.uncompared, ...withoutDetail(comparison)];
  const sum = (key: "mirror" | "details") => [...counts.values()].reduce((all, one) => all + one[key], 0);
  return {
    match: findings.length === 0 && uncompared.length === 0,
    by,
    started_at: isoTime(startedAtMs),
    finished_at: isoTime(finishedAtMs),
    requests,
    records_compared: sum("mirror"),
    details_compared: sum("details"),
    details_total: deepReads.length,
    resumed,
    ...(before && { repair: repairOf(before, findings) }),
    resources: Object.fromEntries(resources.map(({ name }) => [name, resourceOf(comparison, name, facts)])),
    uncompared,
  };
}

function resourceOf(
  { counts, view }: Comparison,
  name: string,
  { findings, before }: ReportFacts,
): VerifiedResource {
  const { service = null, mirror = 0, provisional = 0, details = 0 } = counts.get(name) ?? {};
  const named = namedOf(findings, name);
  // A repair changes what is live.
  const live = before && before.length > 0 ? view.records.counts(name).live : mirror;
  const gone = named.extra.filter(({ why }) => why === notAtService).length;
  const known = live + named.missing.length + named.tombstoned.length - gone;
  return { service: service ?? known, mirror: live, provisional, details, ...named };
}

function repairOf(before: readonly Finding[], after: readonly Finding[]): VerifyReport["repair"] {
  if (before.length === 0) return null;
  const names = [...new Set(before.map(({ resource }) => resource))];
  const found = Object.fromEntries(names.map((name) => [name, namedOf(before, name)]));
  return { found, repaired: before.length - after.length };
}

/** How many records differ. */
export function differenceCount({ resources }: Pick<VerifyReport, "resources">): number {
  return Object.values(resources).reduce((sum, { missing, extra, different, tombstoned }) => {
    const ids = new Set(different.map(({ id }) => id));
    return sum + missing.length + extra.length + tombstoned.length + ids.size;
  }, 0);
}

function namedOf(findings: readonly Finding[], name: string): NamedRecords {
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
    tombstoned: ids("tombstoned"),
  };
}

function withoutDetail({ counts }: Comparison): Uncompared[] {
  return [...counts].flatMap(([resource, { provisional }]) => {
    const message = `${provisional} records have no detail in the mirror yet: only their previews were compared`;
    return provisional === 0 ? [] : [{ resource, id: null, message }];
  });
}
