import type { Company } from "../domain/company-state.ts";
import type { Language } from "../lookups/languages.ts";
import type { Answer } from "../http/answer.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A file of the form, already read. */
export interface UploadedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly content: Buffer;
}

/** One authorised request, as a route sees it. */
export interface Call {
  readonly company: Company;
  readonly language: Language;
  /** The id in the path; NaN where it is not a number. */
  readonly id: number;
  readonly query: Readonly<Record<string, string>>;
  /** Parsed JSON; an empty object where there was none. */
  readonly input: unknown;
  /** Of a multipart request: what came in its field `files`. */
  readonly files: readonly UploadedFile[];
  /** Ties come in another order each time: a number that grows; null keeps them in order. */
  readonly disorder: number | null;
}

export interface Route {
  readonly method: Method;
  /** `/invoices/{id}/pdf` */
  readonly path: string;
  readonly scope: "read" | "write";
  /** Takes an `Idempotency-Key`. */
  readonly idempotent?: boolean;
  readonly handle: (call: Call) => Answer;
}

export interface Match {
  readonly route: Route;
  readonly id: number;
}

/** Routes by method under their path's segments. */
export class Router {
  readonly #byShape = new Map<string, Map<Method, Route>>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const shape = shapeOf(route.path.split("/").slice(1));
      const methods = this.#byShape.get(shape) ?? new Map<Method, Route>();
      this.#byShape.set(shape, methods.set(route.method, route));
    }
  }

  /** The route, the methods that the path has instead, or null for an unknown path. */
  find(method: string, path: string): Match | { readonly allowed: readonly Method[] } | null {
    const segments = path.replace(/\/$/, "").split("/").slice(1);
    const exact = this.#byShape.get(shapeOf(segments, false)) ?? this.#byShape.get(shapeOf(segments, true));
    if (!exact) return null;
    const route = exact.get((method === "HEAD" ? "GET" : method) as Method);
    return route ? { route, id: idOf(segments[1]) } : { allowed: [...exact.keys()] };
  }
}

/** The second segment is the id wherever there is one. */
function shapeOf(segments: readonly string[], withId = true): string {
  return segments.map((segment, i) => (withId && i === 1 ? "{id}" : segment)).join("/");
}

function idOf(segment: string | undefined): number {
  return segment !== undefined && /^\d{1,15}$/.test(segment) ? Number(segment) : Number.NaN;
}
