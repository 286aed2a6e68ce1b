import { MirrorError } from "../base/errors.ts";
import { readBaseUrl } from "../config/address.ts";
import type { ServiceRequest } from "../connector/transport.ts";

/** The only address requests go to (I9). */
export type BaseUrl = Readonly<ReturnType<typeof parseBaseUrl>>;

/** Checks and splits `base_url`; the path has no slash at its end. Throws MirrorError `config`. */
export function parseBaseUrl(text: string) {
  const read = readBaseUrl(text);
  if ("must" in read)
    throw new MirrorError("config", `base_url cannot be used: it must ${read.must}`, {
      hint: "give the address of the public API, like https://app.fintoro.sk/api/public/v1",
    });
  const { origin, pathname } = new URL(read.value);
  return { origin, path: pathname === "/" ? "" : pathname };
}

/** Path and query of a request. Throws MirrorError `usage` for a path that could leave the base URL. */
export function targetOf(base: BaseUrl, request: Pick<ServiceRequest, "path" | "query">): string {
  if (!isPlainPath(request.path))
    throw new MirrorError("usage", `not a path under the base URL: ${JSON.stringify(request.path)}`);
  const query = Object.entries(request.query ?? {})
    .filter(([, value]) => value !== null && value !== undefined)
    .map(
      ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value).toWellFormed())}`,
    );
  return base.path + request.path + (query.length > 0 ? `?${query.join("&")}` : "");
}

/** Printable ASCII without query, fragment or backslash; no empty segment and none that goes up (`..`). */
function isPlainPath(path: string): boolean {
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[?#\\]/.test(path)) return false;
  const segments = path.slice(1).replaceAll(/%2e/gi, ".").split("/");
  return path === "/" || segments.every((segment) => segment !== "" && !/^\.{1,2}$/.test(segment));
}
