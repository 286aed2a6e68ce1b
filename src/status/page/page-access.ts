import { createHmac, randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import path from "node:path";
import { makeFolders, writeFileAtomically } from "../../base/files/atomic-file.ts";
import { minuteMs, type Clock } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { Secret } from "../../base/secret.ts";
import { isLoopbackUrl } from "../../config/address.ts";
import type { Config } from "../../config/config.ts";
import { rereadSecret, shortestSecret } from "../../config/secrets.ts";
import type { SiteRequest } from "../../server/site.ts";
import { isSecret } from "../../webhook/ingest/delivery.ts";

/** May these headers see a page? `wait`: too many wrong tokens came lately. */
export type PageVerdict = "granted" | "token wanted" | "made token wanted" | "no token set" | "wait";

type WantedToken = Pick<PageToken, "secret" | "isMade">;

interface AccessOptions {
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  /** The server listens on this machine alone. */
  readonly isLocal: boolean;
  /** What a request must show; null: nothing, if it is from this machine. */
  readonly token: () => WantedToken | null;
}

const cookieName = "fintoro_mirror_page";
const cookieForS = 30 * 86_400;
/** Wrong tokens in a minute, of all senders together. */
const mostWrong = 20;
/** Whoever sends one of these passes on what somebody else asked for. */
const forwarding = "forwarded via x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip".split(" ");

/**
 * Decides who sees the pages. Where no token is asked for, a request must be from this machine, under a name of this
 * machine. What a proxy passes on is from beyond, also where the proxy is here.
 */
export function createPageAccess({ clock, log, isLocal, token: wantedToken }: AccessOptions) {
  let wrong = { sinceMs: -Infinity, count: 0 };
  const check = (given: string, token: WantedToken): PageVerdict => {
    const nowMs = clock.monotonicMs();
    if (nowMs - wrong.sinceMs > minuteMs) wrong = { sinceMs: nowMs, count: 0 };
    if (wrong.count >= mostWrong) return "wait";
    if (isSecret(given, [token.secret.reveal()])) return "granted";
    wrong.count++;
    log.warn("a wrong token for the pages was given", { in_this_minute: wrong.count });
    return wanted(token);
  };
  return {
    judge(request: AskedPage): PageVerdict {
      const token = wantedToken();
      if (token === null) return isLocal && isFromHere(request) ? "granted" : "no token set";
      const { headers } = request;
      if (!token.secret.known) return "no token set";
      const cookies = (headers.cookie ?? "").split(/; */);
      const kept = cookies.find((one) => one.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1);
      if (kept !== undefined && isSecret(kept, [sessionOf(token.secret)])) return "granted";
      const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
      return bearer === undefined ? wanted(token) : check(bearer, token);
    },
    /** Takes a token from the form. Gives the value of `Set-Cookie` where it is right. */
    signIn(given: string, headers: IncomingHttpHeaders) {
      const token = wantedToken();
      if (!token?.secret.known) return "no token set";
      const access = check(given, token);
      if (access !== "granted") return access;
      const secure = headers["x-forwarded-proto"] === "https" ? "; Secure" : "";
      const rules = `Path=/; Max-Age=${cookieForS}; HttpOnly; SameSite=Strict${secure}`;
      return { cookie: `${cookieName}=${sessionOf(token.secret)}; ${rules}` };
    },
  };
}

export type PageAccess = ReturnType<typeof createPageAccess>;

type AskedPage = Pick<SiteRequest, "headers" | "httpVersion">;

function isFromHere({ headers, httpVersion }: AskedPage): boolean {
  const { host } = headers;
  const isHere = host === undefined || isLoopbackUrl(`http://${host}`);
  // Proxies speak HTTP/1.0 that send no header of their own.
  return isHere && httpVersion !== "1.0" && forwarding.every((name) => headers[name] === undefined);
}

function wanted({ isMade }: WantedToken): PageVerdict {
  return isMade ? "made token wanted" : "token wanted";
}

/** What the cookie holds: it proves that the token was known, and is another one as soon as the token is. */
function sessionOf(token: Secret): string {
  return createHmac("sha256", token.reveal()).update("fintoro-mirror status page").digest("base64url");
}

/** What the pages ask for; `isMade`: the config names none, and this program made it. */
export type PageToken = NonNullable<Config["serve"]["pageToken"]>;

/**
 * What the pages ask for: `serve.page_token`, or without it a token that `makePageToken` keeps in a file of the data
 * folder. Null: the pages need none, because nobody beyond this machine can ask for them (`isLocal`). Where a company has
 * a `public_url`, or the pages have names, a proxy or a tunnel passes requests on: those look like this machine's own.
 */
export function servedPageToken({ serve, companies, dataDir }: Config, isLocal: boolean): PageToken | null {
  const isForwarded = serve.hosts.length > 0 || companies.some(({ webhook }) => webhook.publicUrl !== null);
  if (serve.pageToken !== null || (isLocal && !isForwarded))
    return serve.pageToken && currentPageToken(serve.pageToken);
  const file = pageTokenFile(dataDir);
  const missing = new MirrorError("config", `there is no token for the pages in ${file}`);
  const place = { kind: "file", path: file } as const;
  return currentPageToken({ secret: new Secret(missing), place, isMade: true });
}

/** The token as it is now: a file is read again each time. */
export function currentPageToken(token: PageToken): PageToken {
  return { ...token, secret: rereadSecret(token.place, token.secret) ?? token.secret };
}

/** Makes sure that this file holds a token for the pages, mode 0600, and gives it. One that is long enough stays. */
export function makePageToken(file: string): string {
  const known = rereadSecret({ kind: "file", path: file }, new Secret(""))?.reveal() ?? "";
  if (known.length >= shortestSecret) return known;
  const token = randomBytes(24).toString("base64url");
  makeFolders(path.dirname(file));
  writeFileAtomically(file, `${token}\n`);
  return token;
}

export function pageTokenFile(dataDir: string): string {
  return path.join(dataDir, "page-token");
}
