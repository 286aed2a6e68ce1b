import path from "node:path";
import { freeBytesAt, nearestPresent } from "../../../base/files/atomic-file.ts";
import { MirrorError, messageOf, type ErrorKind } from "../../../base/errors.ts";
import { counted, formatSize } from "../../../base/units.ts";
import type { Config } from "../../../config/config.ts";
import { shortPath } from "../../../config/load.ts";
import { companyScopes, judgeOwnToken, type CompanyScope } from "../../mirror/company-scope.ts";
import { askWhoami } from "../../../sync/identity/identify.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandRun } from "../../program/command-table.ts";
import type { CommandEnding } from "../../program/exit-code.ts";
import { lookup } from "node:dns/promises";
import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { shortText } from "../../../base/terminal-text.ts";
import { isLoopbackUrl } from "../../../config/address.ts";
import { currentKey, currentUrl } from "../../../config/alert-section.ts";
import { mirrorFiles } from "../../../config/mirror-files.ts";
import type { Transport } from "../../../connector/transport.ts";
import { connectService } from "../../../runs/service-connection.ts";
import { skewText, skewWarnMs } from "../../../http/clock-skew.ts";
import { assertMayPost } from "../../../http/poster.ts";
import { lowSpaceBytes } from "../../../status/conditions.ts";
import { lockHolder } from "../../../store/writer-lock.ts";
import { endpointFault, type Lookup } from "../../../webhook/subscriptions/endpoint-rules.ts";

/** A result with its company; null for one that concerns all companies. */
type CompanyCheck = CheckResult & { readonly company: string | null };

export const checkCommand: CommandRun<"check"> = async (context) => {
  const { output, globals } = context;
  const results: CompanyCheck[] = [];
  for await (const result of checkAll(context)) {
    results.push(result);
    if (!globals.json) await output.line(lineOf(result));
  }
  const failed = results.filter((result) => result.status === "fail");
  if (globals.json) await output.json({ ok: failed.length === 0, checks: results });
  return endOf(failed);
};

/** Gives each result as soon as it is known. */
async function* checkAll(context: CommandContext): AsyncGenerator<CompanyCheck> {
  const company = null;
  const { config, results } = checkConfig(context);
  for (const result of results) yield { company, ...result };
  if (config === null) return;
  yield { company, ...checkNode(process.execPath) };
  yield { company, ...checkBaseUrl(config.baseUrl, context.connectors[0].manifest.baseUrl) };
  yield { company, ...checkDataDir(config.dataDir) };
  yield { company, ...judgeFreeSpace(freeBytesAt(config.dataDir)) };
  yield { company, ...checkModes(config) };
  for (const receiver of config.notify)
    yield { company, ...(await checkReceiver(receiver, context.keepSecret)) };
  for (const scope of companyScopes(context, config)) {
    const found = [...(await checkToken(scope)), checkLock(scope), await checkWebhook(scope)];
    for (const result of found) yield { company: scope.company.name, ...result };
  }
}

/** Warns about a Node that a package's install script brought: it is for trying and testing. */
function checkNode(execPath: string): CheckResult {
  const detail = `${process.versions.node} (${execPath})`;
  if (!execPath.includes(`${path.sep}node_modules${path.sep}`)) return ok("node", detail);
  const hint =
    "fine for trying and testing; in production use a Node 22.19 or newer of the machine: this one came by an install script, without an integrity hash";
  return warn("node", detail, hint);
}

function checkConfig(context: CommandContext): { config: Config | null; results: CheckResult[] } {
  try {
    const { config, path: file } = context.config();
    const companies = counted(config.companies.length, "company", "companies");
    return { config, results: [ok("config", `${shortPath(file, context.cwd)}, ${companies}`)] };
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    const failed = failFrom("config", error);
    return { config: null, results: error.message.split("\n").map((detail) => ({ ...failed, detail })) };
  }
}

function lineOf({ status, company, name, detail, hint }: CompanyCheck): string {
  const place = company === null ? name : `${company} ${name}`;
  const below = hint === undefined ? "" : `\n      ${hint}`;
  return `${status.padEnd(4)}  ${place}: ${detail}${below}`;
}

/** The first failure with a kind decides the exit code; other failures are exit code 1. */
function endOf(failed: readonly CompanyCheck[]): CommandEnding {
  const kind = failed.find((result) => result.kind !== undefined)?.kind;
  if (kind !== undefined) return { kind };
  return failed.length > 0 ? "failed" : "complete";
}

interface CheckResult {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  readonly hint?: string;
  /** Kind of a failure; chooses the exit code. */
  readonly kind?: ErrorKind;
}

export function ok(name: string, detail: string): CheckResult {
  return { name, status: "ok", detail };
}

export function warn(name: string, detail: string, hint: string): CheckResult {
  return { name, status: "warn", detail, hint };
}

function fail(name: string, detail: string, hint: string, kind?: ErrorKind): CheckResult {
  return { name, status: "fail", detail, hint, ...(kind === undefined ? {} : { kind }) };
}

function failFrom(name: string, error: unknown): CheckResult {
  const { hint = "see the message", kind } = error instanceof MirrorError ? error : {};
  return fail(name, messageOf(error), hint, kind);
}

/** Checks that the data folder is there and can be written, or can be created. */
export function checkDataDir(dataDir: string): CheckResult {
  const present = nearestPresent(dataDir);
  if (!statSync(present).isDirectory())
    return fail("data_dir", `${present} is a file, not a folder`, "move it away, or set data_dir");
  try {
    accessSync(present, constants.W_OK | constants.X_OK);
  } catch (error) {
    const detail = `${present} cannot be written: ${messageOf(error)}`;
    return fail("data_dir", detail, "check its owner and mode, or set data_dir");
  }
  return ok("data_dir", present === dataDir ? dataDir : `${dataDir} (will be made)`);
}

const fullBytes = 100_000_000;

/** Warns below 1 GB of free space, fails below 100 MB. */
export function judgeFreeSpace(freeBytes: number): CheckResult {
  const detail = `${formatSize(freeBytes)} free`;
  if (freeBytes >= lowSpaceBytes) return ok("disk", detail);
  const hint = "free some space: a mirror, its change log and a report being rewritten need room";
  return freeBytes < fullBytes ? fail("disk", detail, hint) : warn("disk", detail, hint);
}

/** Checks what is sent to a receiver of changes, without sending anything: may it go there, and can it be signed? */
async function checkReceiver(
  { key, url, secret, allowPrivate }: Config["notify"][number],
  onSecrets: CommandContext["keepSecret"],
): Promise<CheckResult> {
  try {
    currentKey(secret, onSecrets);
    await assertMayPost(currentUrl(url, onSecrets), !allowPrivate);
    return ok("notify", `${key}: its address is allowed, and its secret is there`);
  } catch (error) {
    return fail("notify", `${key}: ${messageOf(error)}`, "it is sent nothing: see docs/readers.md");
  }
}

function checkLock({ files }: CompanyScope): CheckResult {
  try {
    const holder = lockHolder(files.lock)?.description;
    if (holder === undefined) return ok("lock", "nobody is writing the mirror");
    return warn(
      "lock",
      `being written by ${holder}`,
      "`sync` beside `serve` has the daemon make the run; beside another `sync` it ends with exit code 11",
    );
  } catch (error) {
    return failFrom("lock", error);
  }
}

/** Rights of everybody but the owner. */
const ofOthers = 0o077;

/**
 * Warns where users other than the owner have rights on folders and files of the mirrors, reports and exports. A report
 * may be as open as `report.mode`, in a folder of its own.
 */
export function checkModes(config: Config): CheckResult {
  const { dataDir, exports, companies, report } = config;
  const readable = (report.mode ?? 0) & ofOthers;
  const names = companies.map(({ name }) => name);
  const reports = names.map((name) => mirrorFiles(config, name).report);
  const opened = new Map(reports.map((file) => [file, readable]));
  if (report.out !== null && report.out !== dataDir) opened.set(report.out, readable | (readable >> 2));
  const isOwn = (entry: string) => names.some((name) => path.basename(entry).startsWith(`${name}.`));
  const places = [
    dataDir,
    ...entriesOf(dataDir).filter(isOwn),
    ...(report.out === null ? [] : [report.out]),
    ...reports,
    ...exports.flatMap(({ out }) => names.flatMap((name) => exportedPlaces(out, name))),
  ];
  const wide = [...new Set(places)].filter(
    (place) => (modeOf(place) & ofOthers & ~(opened.get(place) ?? 0)) !== 0,
  );
  return modesResult(wide, report.mode !== null && report.out === null);
}

function exportedPlaces(out: string, company: string): string[] {
  const folders = [company, `company=${company}`].map((name) => path.join(out, name));
  return folders.flatMap((folder) => [folder, ...entriesOf(folder)]);
}

/** Paths of what is in it; empty where there is no such folder, or it cannot be read. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).map((entry) => path.join(folder, entry));
  } catch {
    return [];
  }
}

function modeOf(place: string): number {
  return statSync(place, { throwIfNoEntry: false })?.mode ?? 0;
}

function modesResult(wide: readonly string[], isHidden: boolean): CheckResult {
  const [first] = wide;
  if (first !== undefined) {
    const more = wide.length === 1 ? "" : `, and ${wide.length - 1} more`;
    const mode = (modeOf(first) & 0o777).toString(8).padStart(4, "0");
    const hint =
      "`chmod -R go= FOLDER` closes it; for readers under another user see report.out and report.mode";
    return warn("modes", `other users have rights on ${first} (${mode})${more}`, hint);
  }
  if (!isHidden) return ok("modes", "folders and files are their owner's alone");
  const hint = "set report.out to a folder of its own";
  return warn("modes", "report.mode opens the report, but the folder that it is in stays closed", hint);
}

/**
 * Checks token, identity and clock with one request: its `Date` header shows the service's clock. The token of a mirror
 * that knows another one costs up to three more.
 */
async function checkToken(scope: CompanyScope): Promise<readonly CheckResult[]> {
  const { context, manifest, config } = scope;
  const budget = checkDataDir(config.dataDir).status === "ok" ? "file" : "memory";
  try {
    await using service = connectService(context, scope, { attempts: 2, budget });
    const { transport, skew } = service;
    const name = await askWhoami(transport, manifest, context.signal);
    // Whether the token may also write cannot be checked without writing; the mirror never needs it.
    const token = ok("token", `reads "${shortText(name)}"; reading is all a mirror needs`);
    return [token, await checkMirror(scope, transport, name), judgeClock(skew.skewMs())];
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

async function addressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Checks the configured public URL by the service's own rules for an endpoint. */
export async function checkWebhook(
  { config, company }: Pick<CompanyScope, "config" | "company">,
  resolve: Lookup = addressesOf,
): Promise<CheckResult> {
  const { publicUrl, secrets } = company.webhook;
  if (publicUrl === null && secrets.length > 0)
    return ok("webhook", "no public_url: deliveries are taken, and their way here is not checked");
  if (publicUrl === null) return ok("webhook", "not configured; the nightly run finds everything by itself");
  const local = isLoopbackUrl(config.baseUrl);
  const fault = await endpointFault(publicUrl, { lookup: resolve, loopback: local });
  if (fault) return (fault.certain ? fail : warn)("webhook", fault.what, fault.hint);
  if (!secrets.some(({ known }) => known))
    return warn(
      "webhook",
      `${publicUrl} has no secret`,
      "set webhook.secrets (`webhooks create` gets one): without it `serve` can take no delivery",
    );
  if (local && isLoopbackUrl(publicUrl)) return ok("webhook", `${publicUrl} (this machine)`);
  const expected = `/webhooks/${company.name}`;
  if (new URL(publicUrl).pathname === expected) return ok("webhook", publicUrl);
  return warn("webhook", `${publicUrl} does not end in ${expected}`, "fine if a proxy maps it there");
}

/**
 * Refuses a URL that the service would refuse, before a request is spent on it; logs what may be a fault.
 * @throws MirrorError `usage`
 */
export async function assertEndpoint({ context, config }: CompanyScope, url: string): Promise<void> {
  const fault = await endpointFault(url, { lookup: addressesOf, loopback: isLoopbackUrl(config.baseUrl) });
  if (fault?.certain) throw new MirrorError("usage", fault.what, { hint: fault.hint });
  if (fault) context.log.warn(fault.what, { hint: fault.hint });
}
