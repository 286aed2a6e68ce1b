import { existsSync } from "node:fs";
import { isLoopbackUrl } from "../../config/address.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import { Meta } from "../../state/meta.ts";
import { openDatabase } from "../../store/database.ts";
import { pinnedIdentity } from "../../sync/identity/identify.ts";
import { judgeIdentity, refusal } from "../../sync/identity/identity-verdict.ts";
import { connectService } from "../../daemon/runs/service-connection.ts";
import { askWhoami } from "../mirror/whoami.ts";
import { checkDataDir } from "./data-folder.ts";
import { fail, failFrom, ok, warn, type CheckResult, type CheckSubject } from "./check-result.ts";

/** Checks token, identity and clock with one request: its `Date` header shows the service's clock. */
export async function checkToken(subject: CheckSubject): Promise<readonly CheckResult[]> {
  const { context, config, company } = subject;
  const { manifest } = context.connectors[0];
  const writable = checkDataDir(config.dataDir).status === "ok";
  try {
    const service = connectService(context, config, company, {
      attempts: 2,
      budget: writable ? "file" : "memory",
    });
    try {
      const { answer, name } = await askWhoami(service.transport, manifest, context.signal);
      const skew = judgeClock(answer.headers["date"], context.clock.nowMs());
      return [judgeToken(name), judgeMirror(subject, name), skew];
    } finally {
      await service.close();
    }
  } catch (error) {
    return [failFrom("token", error)];
  }
}

/** Whether the token may also write cannot be checked without writing; the mirror never needs it. */
function judgeToken(name: string | null): CheckResult {
  if (name === null)
    return fail("token", "the service does not say whose token it is", "check base_url", "protocol");
  return ok("token", `reads "${name}"; reading is all a mirror needs`);
}

/** Compares the token's company with the one that an existing mirror is pinned to. */
function judgeMirror({ config, company }: CheckSubject, name: string | null): CheckResult {
  const { mirror } = mirrorFiles(config, company.name);
  if (!existsSync(mirror)) return ok("identity", "no mirror yet: the first sync pins the company");
  const db = openDatabase(mirror, { readonly: true });
  try {
    const pinned = pinnedIdentity(new Meta(db));
    const verdict = judgeIdentity(pinned, {
      name: name ?? "",
      token: company.token.reveal(),
      businessId: null,
    });
    if (verdict.kind === "refused") return failFrom("identity", refusal(verdict.why));
    return ok("identity", pinned ? `the mirror is of "${pinned.name}"` : "nothing pinned yet");
  } catch (error) {
    return failFrom("identity", error);
  } finally {
    db.close();
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
