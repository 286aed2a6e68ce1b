import type { Language } from "../lookups/languages.ts";
import type { Company } from "../model/company-state.ts";
import type { Upload } from "../model/records.ts";
import type { Answer } from "./service-answer.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One authorised request, as a route sees it. */
export interface Call {
  readonly company: Company;
  readonly language: Language;
  /** The id in the path; NaN where it is not a number. */
  readonly id: number;
  readonly query: Readonly<Record<string, string>>;
  /** Parsed JSON; an empty object where there was none. */
  readonly input: unknown;
  /** Of a multipart request: the content of its field `files`. */
  readonly files: readonly Upload[];
  /** A number that grows: equal sort keys come in another order each time. Null sorts them by id. */
  readonly shuffle: number | null;
}

/** A method on a path, and what answers it. */
export interface Route {
  readonly method: Method;
  /** `/invoices/{id}/pdf` */
  readonly path: string;
  readonly handle: (call: Call) => Answer;
  /** Takes an `Idempotency-Key`. */
  readonly idempotent: boolean;
}

/** A route with the id in the path, or null for an unknown one. */
export type RouteMatch = { readonly route: Route; readonly id: number } | null;

/** Declares a route. */
export function route(
  method: Method,
  path: string,
  handle: Route["handle"],
  idempotent = method === "POST",
): Route {
  return { method, path, handle, idempotent };
}

/** Finds the route of a method and a path. */
export type Router = (method: string, path: string) => RouteMatch;

/** HEAD finds the route of GET. The second segment of a path is the id wherever there is one. */
export function routerOf(routes: readonly Route[]): Router {
  const known = routes.map((one) => ({ route: one, parts: one.path.split("/") }));
  return (method, path) => {
    const sent = path.replace(/\/$/, "").split("/");
    const wanted = method === "HEAD" ? "GET" : method;
    const found = known.find(
      ({ route: { method: own }, parts }) =>
        own === wanted &&
        parts.length === sent.length &&
        parts.every((part, i) => part === "{id}" || part === sent[i]),
    );
    const id = /^\d{1,15}$/.test(sent[2] ?? "") ? Number(sent[2]) : Number.NaN;
    return found ? { route: found.route, id } : null;
  };
}
