import { shortText } from "../../base/terminal-text.ts";
import { isLoopbackUrl } from "../../config/address.ts";
import type { Transport } from "../../connector/transport.ts";
import { connectService } from "../../daemon/runs/service-connection.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import { askWhoami, judgeOwnToken } from "../mirror/whoami.ts";
import { fail, failFrom, ok, warn, type CheckResult } from "./check-result.ts";
import { checkDataDir } from "./data-folder.ts";

/**
 * Checks token, identity and clock with one request: its `Date` header shows the service's clock. The token of a mirror
 * that knows another one costs up to three more.
 */
export async function checkToken(scope: CompanyScope): Promise<readonly CheckResult[]> {
  const { context, manifest, config, company } = scope;
  const budget = checkDataDir(config.dataDir).status === "ok" ? "file" : "memory";
  try {
    const { transport, close } = connectService(context, config, company, { attempts: 2, budget });
    try {
      const { answer, name } = await askWhoami(transport, manifest, context.signal);
      const skew = judgeClock(answer.headers["date"], context.clock.nowMs());
      return [checkName(name), await checkMirror(scope, transport, name ?? ""), skew];
    } finally {
      await close();
    }
  } catch (error) {
    return [failFrom("token", error)];
  }
}

/** Whether the token may also write cannot be checked without writing; the mirror never needs it. */
function checkName(name: string | null): CheckResult {
  if (name === null)
    return fail("token", "the service does not say whose token it is", "check base_url", "protocol");
  return ok("token", `reads "${shortText(name)}"; reading is all a mirror needs`);
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

const skewWarnMs = 60_000;
/** The receiver refuses deliveries that seem older than this. */
const skewFailMs = 300_000;

/** Compares the service's `Date` header with this machine's clock. */
export function judgeClock(date: string | undefined, nowMs: number): CheckResult {
  const there = Date.parse(date ?? "");
  if (Number.isNaN(there))
    return warn("clock", "the service does not send its time", "make sure this machine's is right");
  const skewMs = nowMs - there;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const hint =
    "set this machine's clock (chrony, ntpd, systemd-timesyncd): webhook deliveries are judged by it";
  const detail = `${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} the service`;
  if (Math.abs(skewMs) >= skewFailMs) return fail("clock", detail, hint);
  return Math.abs(skewMs) >= skewWarnMs ? warn("clock", detail, hint) : ok("clock", detail);
}

/** Warns about a base URL other than the published one, unless it is on this machine. */
export function checkBaseUrl(baseUrl: string, published: string): CheckResult {
  if (baseUrl === published) return ok("base_url", baseUrl);
  if (isLoopbackUrl(baseUrl)) return ok("base_url", `${baseUrl} (this machine)`);
  return warn("base_url", baseUrl, `the published address is ${published}`);
}
