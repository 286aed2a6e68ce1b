/** How a company proves to the service who it is, and so which keys it has in the config. */
export type Access =
  | { readonly kind: "token" }
  /**
   * OAuth 2, grant `client_credentials`: `account`, `contact` and `credentials`. An access token is asked for, shared by all
   * processes with the same credentials, and asked for anew before it ends and when the service refuses it.
   */
  | {
      readonly kind: "client_credentials";
      /** Below the base URL. */
      readonly tokenPath: string;
      /** Where the account's resources are, below the base URL: `/accounts/{account}`. */
      readonly accountPath: string;
    };

/** How answers report the budget of requests. */
export type BudgetHeaderForm =
  /** `X-RateLimit-Limit: 120` and `X-RateLimit-Remaining: 118`; `Retry-After` with 429. */
  | "numbers"
  /** `X-RateLimit-Policy: default;q=400;w=60` and `X-RateLimit: default;r=398;t=55`: `t` seconds until the window ends. */
  | "structured";

/** How a delivery of an event proves its sender and says what it is about. */
export type DeliveryForm =
  /** Three `webhook-` headers, of which one signs the body: `{ id, type, occurredAt, resource: { type, id } }`. */
  | { readonly kind: "signed" }
  /** Nothing is signed: a header holds the secret itself. The record stands in the body, below its kind. */
  | {
      readonly kind: "secret";
      /** Lower case, as the next one. */
      readonly secretHeader: string;
      /** The event's id, the same for all attempts. */
      readonly idHeader: string;
      /** Fields of the body: the type of the event, when it happened, and the object with the record. */
      readonly typeField: string;
      readonly atField: string;
      readonly recordField: string;
    };

/** The calls that the account's plan allows in a calendar month. */
export interface MonthlyQuota {
  /** Of the smallest plan, until the service says another number. */
  readonly requests: number;
  /** Where the service says it: in this answer, in these fields. */
  readonly stated?: { readonly path: string; readonly limitField: string; readonly usedField: string };
}

export interface Protocol {
  /** @default a token */
  readonly access?: Access;
  /** @default numbers */
  readonly budgetHeaders?: BudgetHeaderForm;
  /**
   * A header that every answer of the service itself carries, in lower case: an error with it is the service's own, whatever
   * its body. Absent: a JSON body with a message says so.
   */
  readonly ownHeader?: string;
  /** Absent: there is none, and no key `rate_limit.monthly`. */
  readonly monthlyQuota?: MonthlyQuota;
}

/** The account's part of the path of a request. Pure. */
export function accountPath(access: Access | undefined, account: string | null): string {
  if (access?.kind !== "client_credentials") return "";
  return access.accountPath.replace("{account}", encodeURIComponent(account ?? ""));
}
