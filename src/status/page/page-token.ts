import { randomBytes } from "node:crypto";
import path from "node:path";
import { makeFolders, writeFileAtomically } from "../../base/atomic-file.ts";
import { MirrorError } from "../../base/errors.ts";
import { Secret } from "../../base/secret.ts";
import type { Config } from "../../config/config.ts";
import { rereadSecret, shortestSecret } from "../../config/secrets.ts";

/** What the pages ask for; `isMade`: the config names none, and this program made it. */
export type PageToken = NonNullable<Config["serve"]["pageToken"]>;

/**
 * What the pages ask for: `serve.page_token`, or without it a token that `makePageToken` keeps in a file of the data
 * folder. Null: the pages need none, because nobody beyond this machine can ask for them. Where a company has a
 * `public_url`, or the pages have names, a proxy or a tunnel passes requests on: those look like this machine's own.
 *
 * @param isLocal the server listens on this machine alone
 */
export function servedPageToken({ serve, companies, dataDir }: Config, isLocal: boolean): PageToken | null {
  const isForwarded = serve.hosts.length > 0 || companies.some(({ webhook }) => webhook.publicUrl !== null);
  if (serve.pageToken !== null || (isLocal && !isForwarded)) return serve.pageToken;
  const file = pageTokenFile(dataDir);
  const missing = new MirrorError("config", `there is no token for the pages in ${file}`);
  const place = { kind: "file", path: file } as const;
  return currentPageToken({ secret: Secret.absent(missing), place, isMade: true });
}

/** The token as it is now: a file is read again each time. */
export function currentPageToken(token: PageToken): PageToken {
  return { ...token, secret: rereadSecret(token.place, token.secret) ?? token.secret };
}

/**
 * Makes sure that this file holds a token for the pages, mode 0600, and gives it. One that is long enough stays.
 *
 * @throws Error of the file system
 */
export function makePageToken(file: string): string {
  const known = rereadSecret({ kind: "file", path: file }, Secret.of(""))?.reveal() ?? "";
  if (known.length >= shortestSecret) return known;
  const token = randomBytes(24).toString("base64url");
  makeFolders(path.dirname(file));
  writeFileAtomically(file, `${token}\n`);
  return token;
}

/** Where the token is that `init` and `serve` make. */
export function pageTokenFile(dataDir: string): string {
  return path.join(dataDir, "page-token");
}
