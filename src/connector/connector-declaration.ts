import type { Operation } from "./operation.ts";
import type { DeliveryForm, Protocol } from "./service-protocol.ts";
import type { MonthPackage, ReportQuestion, ReportView } from "./report-view.ts";
import type { Resource } from "./resource.ts";
import type { ExportLanguage, Translation } from "./translation.ts";

export interface EventRule {
  /** `invoices.paid` */
  readonly type: string;
  /** `resource.type` of its payload. */
  readonly resourceType: string;
  /** The resource to read; null where the service has no route for it. */
  readonly resource: string | null;
  /** `refetch`: read the record. `confirm`: read it to prove its deletion. `keep`: only store the event. */
  readonly action: "refetch" | "confirm" | "keep";
}

/** When a record of `resource` is deleted, the records of `dependent` that refer to it must be read again. */
interface Cascade {
  readonly resource: string;
  readonly dependent: string;
  readonly column: string;
}

/**
 * Operations on webhook subscriptions. A record has `id`, `name`, `url`, `isActive`, `subscribedEvents`,
 * `lastSuccessAt`, `lastFailureAt`; `create` and `update` take all fields that can be set; only `create` and
 * `rotate` answer with the `plainTextSecret`.
 */
export type SubscriptionOperations = Readonly<
  Record<"list" | "create" | "update" | "rotate" | "delete", Operation>
>;

/** A change of a record of `resource` changes records of `dependent`. */
export interface InvalidationRule {
  readonly resource: string;
  readonly dependent: string;
  /** The service sends an event for the dependent, too: the rule is for changes that were found without an event. */
  readonly announced?: true;
  /**
   * How to find them. `column`: this column of the record holds the id. `parts`: `key` in each element of the record's
   * list `field` holds one. `pointing`: the dependents that name the record, by kind and id; with `shows` only those
   * that differ from it in one of these columns, the dependent's column first. `counting`: those that count records of
   * this kind; only for additions and deletions.
   */
  readonly by:
    | { readonly kind: "column"; readonly column: string }
    | { readonly kind: "parts"; readonly field: string; readonly key: string }
    | {
        readonly kind: "pointing";
        readonly column: string;
        readonly is: string;
        readonly idColumn: string;
        readonly shows?: Readonly<Record<string, string>>;
      }
    | { readonly kind: "counting"; readonly column: string; readonly is: string };
}

/**
 * What of a deleted record stands in `deleted_records`: for each of its columns the first of these that the record's table
 * has. `a.b` is column `b` of the record whose id column `a` holds.
 */
export type LastKnown = Readonly<
  Record<"number" | "name" | "total" | "currency" | "date", readonly string[]>
>;

export interface ConnectorDeclaration {
  readonly name: string;
  readonly title: string;
  readonly baseUrl: string;
  /** @default a token, and `X-RateLimit-Limit` and its kin */
  readonly protocol?: Protocol;
  readonly limits: { readonly requests: number; readonly windowMs: number };
  readonly languages: readonly string[];
  /** In the order of reading: what others refer to comes first. */
  readonly resources: readonly Resource[];
  readonly events: readonly EventRule[];
  readonly cascades: readonly Cascade[];
  readonly invalidationRules?: readonly InvalidationRule[];
  readonly identity: {
    /** The resource whose record names the token's company, and the field with the name. */
    readonly resource: string;
    readonly nameField: string;
    /** The column with the company's business id, in these resources. */
    readonly businessIdColumn: string;
    readonly businessIdIn: readonly string[];
    /**
     * What proves that another token is of the same company: a record that both show under the same id with the same
     * value of `field`. The first entry of which the mirror has records counts.
     */
    readonly proofs: readonly { readonly field: string; readonly resources: readonly string[] }[];
  };
  readonly operations: readonly Operation[];
  /** @default only the ids of deleted records are shown */
  readonly lastKnown?: LastKnown;
  readonly views?: readonly ReportView[];
  readonly questions?: readonly ReportQuestion[];
  readonly translations?: Readonly<Partial<Record<ExportLanguage, Translation>>>;
  /** Absent: there is no command `package`. */
  readonly monthPackage?: MonthPackage;
  /** Absent where the service sends no events. */
  readonly webhooks?: {
    /** Absent: people make them at the service. */
    readonly subscriptions?: SubscriptionOperations;
    /** The resource that mirrors them; absent: none does. */
    readonly subscriptionsResource?: string;
    /** @default signed */
    readonly deliveries?: DeliveryForm;
    /** The service's pauses between attempts, at least and at most, ms. @default those of the signed form */
    readonly retryDelays?: readonly (readonly [leastMs: number, mostMs: number])[];
  };
}

/** The resource of that name. Throws when there is none: names come from the declaration itself. */
export function resourceNamed(declaration: ConnectorDeclaration, name: string): Resource {
  const resource = declaration.resources.find((candidate) => candidate.name === name);
  if (!resource) throw new Error(`broken promise: ${name} is a resource of ${declaration.name}`);
  return resource;
}
