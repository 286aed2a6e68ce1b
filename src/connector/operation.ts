import type { z } from "zod";

/** One call that the service offers: the client makes it, `connector check` compares it. */
export interface Operation {
  /** Its name in the client: `invoices.create`. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `{parameter}` names as published. */
  readonly path: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly bodyType?: "json" | "multipart";
  readonly status: number;
  readonly answer:
    | { readonly kind: "record"; readonly schema: z.ZodObject }
    | { readonly kind: "list"; readonly schema: z.ZodObject; readonly paged: boolean }
    | { readonly kind: "file"; readonly mediaType: string }
    | { readonly kind: "nothing" };
  readonly idempotent?: boolean;
}
