import { isoTime } from "../base/clock.ts";
import type { RecordId } from "../base/ids.ts";
import type { FieldDifference } from "./compare/differences.ts";
import type { Finding } from "./look/accusation.ts";
import type { Comparison, Uncompared } from "./look/comparison.ts";

/** What `verify --json` says of one resource. */
export interface VerifiedResource {
  /** Records at the service: as its lists show; of records without a list of their own, as far as compared. */
  readonly service: number;
  /** Live rows. */
  readonly mirror: number;
  /** Of those, rows of which only the preview is known. */
  readonly provisional: number;
  /** Details, or lists of parents, that were compared. */
  readonly details: number;
  readonly missing: readonly { readonly id: RecordId }[];
  readonly extra: readonly { readonly id: RecordId; readonly why: string }[];
  readonly different: readonly ({ readonly id: RecordId } & FieldDifference)[];
  /** Deleted in the mirror, alive at the service. */
  readonly tombstoned: readonly { readonly id: RecordId }[];
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
  readonly resources: Readonly<Record<string, VerifiedResource>>;
  readonly uncompared: readonly Uncompared[];
}

/** Builds the report. Pure. */
export function verifyReport(
  comparison: Comparison,
  findings: readonly Finding[],
  more: { readonly by: string; readonly startedAtMs: number },
): VerifyReport {
  const { counts, clock, lists, deepReads } = comparison;
  const uncompared = [...comparison.uncompared, ...withoutDetail(comparison)];
  const sum = (key: "mirror" | "details") => [...counts.values()].reduce((all, one) => all + one[key], 0);
  const resources = [...counts].map(([name, { service, mirror, provisional, details }]) => {
    const own = findings.filter(({ resource }) => resource === name);
    const named = listsOf(own);
    const known = mirror + named.missing.length + named.tombstoned.length - named.extra.length;
    return [name, { service: service ?? known, mirror, provisional, details, ...named }] as const;
  });
  return {
    match: findings.length === 0 && uncompared.length === 0,
    by: more.by,
    started_at: isoTime(more.startedAtMs),
    finished_at: isoTime(clock.nowMs()),
    requests: lists.reader.requests,
    records_compared: sum("mirror"),
    details_compared: sum("details"),
    details_total: deepReads.length,
    resources: Object.fromEntries(resources),
    uncompared,
  };
}

/** How many records differ. */
export function differenceCount({ resources }: Pick<VerifyReport, "resources">): number {
  return Object.values(resources).reduce((sum, { missing, extra, different, tombstoned }) => {
    const ids = new Set(different.map(({ id }) => id));
    return sum + missing.length + extra.length + tombstoned.length + ids.size;
  }, 0);
}

function listsOf(findings: readonly Finding[]) {
  const sorted = findings.toSorted((a, b) => (a.id < b.id ? -1 : 1));
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
