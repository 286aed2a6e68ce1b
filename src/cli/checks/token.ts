import { shortText } from "../../base/terminal-text.ts";
import { isLoopbackUrl } from "../../config/address.ts";
import type { Transport } from "../../connector/transport.ts";
import { connectService } from "../../runs/service-connection.ts";
import { skewText, skewWarnMs } from "../../http/clock-skew.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import { askWhoami, judgeOwnToken } from "../mirror/whoami.ts";
import { fail, failFrom, ok, warn, type CheckResult } from "./check-result.ts";
import { checkDataDir } from "./data-folder.ts";

/**
 * Checks token, identity and clock with one request: its `Date` header shows the service's clock. The token of a mirror
 * that knows another one costs up to three more.
 */
export async function checkToken(scope: CompanyScope): Promise<readonly CheckResult[]> {
  const { context, manifest, config } = scope;
  const budget = checkDataDir(config.dataDir).status === "ok" ? "file" : "memory";
  try {
    const { transport, skew, close } = connectService(context, scope, { attempts: 2, budget });
    try {
      const name = await askWhoami(transport, manifest, context.signal);
      // Whether the token may also write cannot be checked without writing; the mirror never needs it.
      const token = ok("token", `reads "${shortText(name)}"; reading is all a mirror needs`);
      return [token, await checkMirror(scope, transport, name), judgeClock(skew.skewMs())];
    } finally {
      await close();
    }
  } catch (error) {
    return [failFrom("token", error)];
  }
}

/** Compares the token's company with the one that an existing mirror is pinned to. */
async function checkMirror(scope: CompanyScope, transport: Transport, name: string): Promise<CheckResult> {
  try {
    const verdict = await judgeOwnToken(scope, transport, name);
    if (verdict === null) return ok("identity", "no mirror yet: the first sync pins the company");
    if (verdict.kind === "refused") return failFrom("identity", verdict.error);
    if ("why" in verdict) return ok("identity", verdict.why);
    return ok(
      "identity",
      verdict.kind === "same" ? `the mirror is of "${shortText(name)}"` : "nothing pinned yet",
    );
  } catch (error) {
    return failFrom("identity", error);
  }
}

/** The receiver refuses deliveries that seem older than this. */
const skewFailMs = 300_000;

/** Judges by how much this machine's clock differs from the service's, as answers show it. */
export function judgeClock(skewMs: number | null): CheckResult {
  if (skewMs === null)
    return warn("clock", "the service does not send its time", "make sure this machine's is right");
  const hint =
    "set this machine's clock (chrony, ntpd, systemd-timesyncd): webhook deliveries are judged by it";
  const detail = skewText(skewMs);
  if (Math.abs(skewMs) >= skewFailMs) return fail("clock", detail, hint);
  return Math.abs(skewMs) >= skewWarnMs ? warn("clock", detail, hint) : ok("clock", detail);
}

/** Warns about a base URL other than the published one, unless it is on this machine. */
export function checkBaseUrl(baseUrl: string, published: string): CheckResult {
  if (baseUrl === published) return ok("base_url", baseUrl);
  if (isLoopbackUrl(baseUrl)) return ok("base_url", `${baseUrl} (this machine)`);
  return warn("base_url", baseUrl, `the published address is ${published}`);
}
