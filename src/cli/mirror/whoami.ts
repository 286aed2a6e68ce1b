import { resourceNamed, type Manifest } from "../../connector/connector-manifest.ts";
import type { Transport } from "../../connector/transport.ts";
import { readCompanyName } from "../../extract/answers.ts";
import { judgeToken } from "../../sync/identity/identify.ts";
import { readMirror, type CompanyScope } from "./company-scope.ts";

/** Asks the service for the name of the token's company, in one request. Throws MirrorError `protocol` where it names none. */
export async function askWhoami(transport: Transport, manifest: Manifest, signal: AbortSignal) {
  const { list } = resourceNamed(manifest, manifest.identity.resource);
  if (list.kind !== "single") throw new Error("broken promise: the identity is a single record");
  const { path } = list;
  const { body } = await transport.send({ method: "GET", path, expect: "json", signal });
  return readCompanyName(body, { path, field: manifest.identity.nameField });
}

/** Judges the config's token, of the company `name`, for the mirror (I10); null where there is no mirror yet. */
export function judgeOwnToken(scope: CompanyScope, transport: Transport, name: string) {
  const { context, manifest, company } = scope;
  const { signal } = context;
  const token = company.token.reveal();
  const ask = async (path: string) =>
    (await transport.send({ method: "GET", path, expect: "json", signal })).body;
  return readMirror(scope, (db) => db && judgeToken({ db, manifest }, { name, token }, ask));
}
