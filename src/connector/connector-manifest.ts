import type { Operation } from "./operation.ts";
import type { ReportView } from "./report-view.ts";
import type { Resource } from "./resource.ts";

/** What an event asks of the mirror. */
export interface EventRule {
  /** `invoices.paid` */
  readonly type: string;
  /** `resource.type` of its payload. */
  readonly resourceType: string;
  /** The table it concerns; null where the service has no route to read. */
  readonly resource: string | null;
  /** `refetch`: read it again. `confirm`: ask whether it is gone. `keep`: store the event, nothing to read. */
  readonly action: "refetch" | "confirm" | "keep";
}

/** When a record of `resource` goes, the records of `dependent` that point to it must be read again. */
export interface Cascade {
  readonly resource: string;
  readonly dependent: string;
  /** The dependent's column that holds the id. */
  readonly column: string;
}

/**
 * How a service is asked to send events. A subscription's record has `id`, `name`, `url`, `isActive`,
 * `subscribedEvents`, `lastSuccessAt`, `lastFailureAt`; `create` and `update` take the whole of what may be
 * set; `create` and `rotate` answer with the record and its `plainTextSecret`, which is shown at no other time.
 */
export interface SubscriptionOperations {
  readonly list: Operation;
  readonly create: Operation;
  readonly update: Operation;
  readonly rotate: Operation;
  readonly delete: Operation;
}

/** What happens to a record of `resource` changes others, too, and nobody is told of that. */
export interface InvalidationRule {
  readonly resource: string;
  readonly reaches: string;
  /**
   * `column`: that of the record holds the other's id. `pointing`: others that name the record, by kind and id.
   * `counting`: others of this kind count such records, and change when one comes or goes.
   */
  readonly by:
    | { readonly kind: "column"; readonly column: string }
    | { readonly kind: "pointing"; readonly column: string; readonly is: string; readonly idColumn: string }
    | { readonly kind: "counting"; readonly column: string; readonly is: string };
}

/** A remote system: its limits, its resources and what its events mean. Data, no behaviour. */
export interface Manifest {
  readonly name: string;
  readonly title: string;
  /** The published address; the user's config decides. */
  readonly baseUrl: string;
  readonly limits: { readonly requests: number; readonly windowMs: number };
  readonly languages: readonly string[];
  /** In the order of a sweep: what others point to comes first. */
  readonly resources: readonly Resource[];
  readonly events: readonly EventRule[];
  readonly cascades: readonly Cascade[];
  readonly invalidationRules?: readonly InvalidationRule[];
  readonly identity: {
    /** The resource whose record names the company of the token, and that name's field. */
    readonly resource: string;
    readonly nameField: string;
    /** The company's business id as documents carry it: column of these resources. */
    readonly businessIdColumn: string;
    readonly businessIdIn: readonly string[];
  };
  readonly operations: readonly Operation[];
  /** What reports answer by name. */
  readonly views?: readonly ReportView[];
  /** Absent: the service sends no events. */
  readonly webhooks?: { readonly subscriptions: SubscriptionOperations };
}

export function resourceNamed(manifest: Manifest, name: string): Resource {
  const resource = manifest.resources.find((candidate) => candidate.name === name);
  if (!resource) throw new Error(`broken promise: ${name} is a resource of ${manifest.name}`);
  return resource;
}
