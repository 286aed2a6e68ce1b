import type { RecordId } from "../../base/ids.ts";
import type { CellDifference } from "../../store/apply/held-record.ts";

/** A record by its id. */
interface NamedRecord {
  readonly id: RecordId;
}

/**
 * A field that is not what the record's JSON says, as it was received; `_raw`, `_fence` or `_changes` for what is kept
 * beside the row.
 */
type LocalDifference = NamedRecord & CellDifference;

/** What was found in one resource. */
export interface ResourceCheck {
  /** Live records. */
  mirror: number;
  /** Records without a row. */
  readonly missing: NamedRecord[];
  /** Rows without a record. */
  readonly extra: NamedRecord[];
  readonly different: LocalDifference[];
  /** More findings than are named. */
  unnamed: number;
}

/** Damage that is no record's. */
export interface LocalProblem {
  readonly kind: "integrity" | "schema" | "queue" | "inbox" | "listing" | "sequence" | "change log";
  readonly message: string;
  readonly hint: string;
}

/** What the check of a mirror against itself found. */
export interface LocalCheck {
  readonly match: boolean;
  /** Records compared. */
  readonly records: number;
  readonly resources: Readonly<Record<string, Readonly<ResourceCheck>>>;
  readonly problems: readonly LocalProblem[];
}

/** What to do about damage that a repair heals. */
export const repairHint = "Run `verify --local --repair`.";

/** Named for one resource and list, so that a wholly wrong table fits into memory. */
const mostNamed = 1_000;

/** Collects what is found. */
export class LocalFindings {
  readonly problems: LocalProblem[] = [];
  readonly resources: Record<string, ResourceCheck> = {};
  records = 0;

  of(resource: string): ResourceCheck {
    return (this.resources[resource] ??= { mirror: 0, missing: [], extra: [], different: [], unnamed: 0 });
  }

  add(resource: string, found: Found): void {
    const check = this.of(resource);
    const { list, ...named } = found;
    // Each list holds what its name says: the union of `found` pairs them.
    const into = check[list] as NamedRecord[];
    if (into.length < mostNamed) into.push(named);
    else check.unnamed += 1;
  }

  result(): LocalCheck {
    const { problems, resources, records } = this;
    const match = problems.length === 0 && Object.values(resources).every(isSound);
    return { match, records, resources, problems };
  }
}

function isSound({ missing, extra, different }: ResourceCheck): boolean {
  return missing.length + extra.length + different.length === 0;
}

/** One finding about a record, with the list it belongs to. */
export type Found =
  ({ readonly list: "missing" | "extra" } & NamedRecord) | ({ readonly list: "different" } & LocalDifference);
