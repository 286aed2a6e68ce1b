import type { Company } from "../domain/company-state.ts";
import type { Answer } from "../http/answer.ts";
import type { UploadedFile } from "../http/request.ts";
import type { Language } from "../lookups/languages.ts";

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
  readonly files: readonly UploadedFile[];
  /** A number that grows: equal sort keys come in another order each time. Null sorts them by id. */
  readonly shuffle: number | null;
}

/** A method on a path, and what answers it. */
export interface Route {
  readonly method: Method;
  /** `/invoices/{id}/pdf` */
  readonly path: string;
  readonly scope: "read" | "write";
  /** Takes an `Idempotency-Key`. */
  readonly idempotent?: boolean | undefined;
  readonly handle: (call: Call) => Answer;
}

/** The route; or the methods that the path has instead, none for an unknown path. */
export type RouteMatch =
  { readonly route: Route; readonly id: number } | { readonly allowed: readonly Method[] };

/** A route that reads. */
export function get(path: string, handle: (call: Call) => Answer): Route {
  return { method: "GET", path, scope: "read", handle };
}

/** A route that writes; POST takes an `Idempotency-Key` unless `idempotent` is false. */
export function write(
  method: Method,
  path: string,
  handle: (call: Call) => Answer,
  idempotent = method === "POST",
): Route {
  return { method, path, scope: "write", idempotent, handle };
}

/** Finds routes by method and path. */
export class Router {
  readonly #byShape = new Map<string, Map<Method, Route>>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const shape = shapeOf(route.path.split("/").slice(1));
      const methods = this.#byShape.get(shape) ?? new Map<Method, Route>();
      this.#byShape.set(shape, methods.set(route.method, route));
    }
  }

  find(method: string, path: string): RouteMatch {
    const segments = path.replace(/\/$/, "").split("/").slice(1);
    const methods = this.#byShape.get(shapeOf(segments, false)) ?? this.#byShape.get(shapeOf(segments));
    const route = methods?.get((method === "HEAD" ? "GET" : method) as Method);
    return route ? { route, id: idOf(segments[1]) } : { allowed: [...(methods?.keys() ?? [])] };
  }
}

/** The second segment is the id wherever there is one. */
function shapeOf(segments: readonly string[], withId = true): string {
  return segments.map((segment, i) => (withId && i === 1 ? "{id}" : segment)).join("/");
}

function idOf(segment: string | undefined): number {
  return segment !== undefined && /^\d{1,15}$/.test(segment) ? Number(segment) : Number.NaN;
}
