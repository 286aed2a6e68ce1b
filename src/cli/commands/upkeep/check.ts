import path from "node:path";
import { freeBytesAt, nearestPresent } from "../../../base/files/atomic-file.ts";
import { MirrorError, messageOf, type ErrorKind, valueOr } from "../../../base/errors.ts";
import { someOf } from "../../../base/names.ts";
import { counted, formatSize } from "../../../base/units.ts";
import type { Config } from "../../../config/config.ts";
import { selectResources } from "../../../config/companies.ts";
import { shortPath, type LoadedConfig } from "../../../config/load.ts";
import type { ConnectorDeclaration } from "../../../connector/connector-declaration.ts";
import { namesReadBy } from "../../../connector/report-view.ts";
import { sourcesOf } from "../../../connector/resource.ts";
import { companyScopes, judgeOwnToken, type CompanyScope } from "../../mirror/company-scope.ts";
import { askWhoami } from "../../../sync/identity/identify.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { lookup } from "node:dns/promises";
import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { shortText } from "../../../base/terminal-text.ts";
import { isLoopbackUrl } from "../../../config/address.ts";
import { currentKey, currentUrl } from "../../../config/alert-section.ts";
import { mirrorFiles } from "../../../store/mirror-files.ts";
import type { Transport } from "../../../connector/transport.ts";
import { connectService } from "../../../runs/service-connection.ts";
import { skewText, skewWarnMs } from "../../../http/clock-skew.ts";
import { assertMayPost } from "../../../http/poster.ts";
import { lowSpaceBytes } from "../../../status/conditions.ts";
import { lockHolder } from "../../../store/writer-lock.ts";
import { endpointFault, type Lookup } from "../../../webhook/subscriptions/endpoint-rules.ts";

interface CheckResult {
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  readonly hint?: string;
  /** Kind of a failure; chooses the exit code. */
  readonly kind?: ErrorKind;
}

/** Null for a company: it concerns all of them. */
type CompanyCheck = CheckResult & { readonly company: string | null; readonly name: string };

export const checkCommand: CommandRun<"check"> = async (context) => {
  const { output, globals } = context;
  const checks: CompanyCheck[] = [];
  for await (const check of checkAll(context)) {
    checks.push(check);
    if (!globals.json) await output.line(lineOf(check));
  }
  const failed = checks.filter(({ status }) => status === "fail");
  if (globals.json) await output.json({ ok: failed.length === 0, checks });
  const kind = failed.find((one) => one.kind !== undefined)?.kind;
  if (kind !== undefined) return { kind };
  return failed.length > 0 ? "failed" : "complete";
};

const ofAll = (name: string, found: CheckResult) => ({ company: null, name, ...found });

async function* checkAll(context: CommandContext): AsyncGenerator<CompanyCheck> {
  let loaded: LoadedConfig;
  try {
    loaded = context.config();
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    const failed = failFrom(error);
    yield* error.message.split("\n").map((detail) => ofAll("config", { ...failed, detail }));
    return;
  }
  const { config, path: file } = loaded;
  const companies = counted(config.companies.length, "company", "companies");
  yield ofAll("config", ok(`${shortPath(file, context.cwd)}, ${companies}`));
  yield ofAll("node", checkNode(process.execPath));
  yield ofAll("base_url", checkBaseUrl(config.baseUrl, context.connector.declaration.baseUrl));
  yield ofAll("data_dir", checkDataDir(config.dataDir));
  yield ofAll("resources", checkResources(context.connector.declaration, config.resources));
  yield ofAll("disk", judgeFreeSpace(freeBytesAt(config.dataDir)));
  yield ofAll("modes", checkModes(config));
  for (const receiver of config.notify)
    yield ofAll("notify", await checkReceiver(receiver, context.onSecrets));
  for (const scope of companyScopes(context, config)) {
    const own = { ...(await checkToken(scope)), lock: checkLock(scope), webhook: await checkWebhook(scope) };
    for (const [name, found] of Object.entries(own)) yield { company: scope.company.name, name, ...found };
  }
}

/** Warns about a Node that a package's install script brought: it is for trying and testing. */
function checkNode(execPath: string): CheckResult {
  const detail = `${process.versions.node} (${execPath})`;
  if (!execPath.includes(`${path.sep}node_modules${path.sep}`)) return ok(detail);
  const hint =
    "fine for trying and testing; in production use a Node 22.19 or newer of the machine: this one came by an install script, without an integrity hash";
  return warn(detail, hint);
}

/** Warns where the config leaves out what brings the records of a table that it asks for, or what a view reads. */
function checkResources(declaration: ConnectorDeclaration, choice: Config["resources"]): CheckResult {
  const { resources, views = [] } = declaration;
  const chosen = selectResources(declaration, choice);
  const leftOut = new Set(resources.filter((one) => !chosen.includes(one)).map(({ name }) => name));
  const missing = chosen.flatMap((one) =>
    sourcesOf(one).flatMap((source) => (leftOut.has(source) ? [`${one.name} of ${source}`] : [])),
  );
  const lacking = views.flatMap((view) => {
    const tables = new Set(namesReadBy(view, views).filter((name) => leftOut.has(name)));
    return tables.size === 0 ? [] : [`${view.name} (${[...tables].join(", ")})`];
  });
  const gaps = [
    ...(missing.length > 0 ? [`not read, as what brings them is left out: ${missing.join(", ")}`] : []),
    ...(lacking.length > 0 ? [`views read tables that are left out: ${someOf(lacking, 3)}`] : []),
  ];
  if (gaps.length === 0) return ok(counted(chosen.length, "table"));
  return warn(gaps.join("; "), "sums of views may be wrong: see resources");
}

function lineOf({ status, company, name, detail, hint }: CompanyCheck): string {
  const place = company === null ? name : `${company} ${name}`;
  const below = hint === undefined ? "" : `\n      ${hint}`;
  return `${status.padEnd(4)}  ${place}: ${detail}${below}`;
}

const ok = (detail: string): CheckResult => ({ status: "ok", detail });
const warn = (detail: string, hint: string): CheckResult => ({ status: "warn", detail, hint });
const fail = (detail: string, hint: string): CheckResult => ({ status: "fail", detail, hint });

function failFrom(error: unknown): CheckResult {
  const { hint = "see the message", kind } = error instanceof MirrorError ? error : {};
  return { ...fail(messageOf(error), hint), ...(kind && { kind }) };
}

/** Checks that the data folder is there and can be written, or can be created. */
export function checkDataDir(dataDir: string): CheckResult {
  const present = nearestPresent(dataDir);
  try {
    accessSync(present, constants.W_OK | constants.X_OK);
  } catch (error) {
    const detail = `${present} cannot be written: ${messageOf(error)}`;
    return fail(detail, "check its owner and mode, or set data_dir");
  }
  return ok(present === dataDir ? dataDir : `${dataDir} (will be made)`);
}

const fullBytes = 100_000_000;

/** Warns below 1 GB of free space, fails below 100 MB. */
export function judgeFreeSpace(freeBytes: number): CheckResult {
  const detail = `${formatSize(freeBytes)} free`;
  if (freeBytes >= lowSpaceBytes) return ok(detail);
  const hint = "free some space: a mirror, its change log and a report being rewritten need room";
  return freeBytes < fullBytes ? fail(detail, hint) : warn(detail, hint);
}

/** Checks what is sent to a receiver of changes, without sending anything: may it go there, and can it be signed? */
async function checkReceiver(
  { key, url, secret, allowPrivate }: Config["notify"][number],
  onSecrets: CommandContext["onSecrets"],
): Promise<CheckResult> {
  try {
    currentKey(secret, onSecrets);
    await assertMayPost(currentUrl(url, onSecrets), !allowPrivate);
    return ok(`${key}: its address is allowed, and its secret is there`);
  } catch (error) {
    return fail(`${key}: ${messageOf(error)}`, "it is sent nothing: see docs/readers.md");
  }
}

function checkLock({ files }: CompanyScope): CheckResult {
  try {
    const holder = lockHolder(files.lock)?.description;
    if (holder === undefined) return ok("nobody is writing the mirror");
    return warn(
      `being written by ${holder}`,
      "`sync` beside `serve` has the daemon make the run; beside another `sync` it ends with exit code 11",
    );
  } catch (error) {
    return failFrom(error);
  }
}

const rightsOfOthers = 0o077;

/**
 * Warns where users other than the owner have rights on folders and files of the mirrors, reports and exports. A report
 * may be as open as `report.mode`, in a folder of its own.
 */
export function checkModes(config: Config): CheckResult {
  const { dataDir, exports, companies, report } = config;
  const readable = (report.mode ?? 0) & rightsOfOthers;
  const names = companies.map(({ name }) => name);
  const reports = names.map((name) => mirrorFiles(config, name).report);
  const opened = new Map(reports.map((file) => [file, readable]));
  if (report.out !== null && report.out !== dataDir) opened.set(report.out, readable | (readable >> 2));
  const isOwn = (entry: string) => names.some((name) => path.basename(entry).startsWith(`${name}.`));
  const places = [
    dataDir,
    ...entriesOf(dataDir).filter(isOwn),
    ...opened.keys(),
    ...exports.flatMap(({ out }) => names.flatMap((name) => exportedPlaces(out, name))),
  ];
  const isWide = (place: string) => (modeOf(place) & rightsOfOthers & ~(opened.get(place) ?? 0)) !== 0;
  const [first, ...more] = [...new Set(places)].filter(isWide);
  if (first !== undefined) {
    const mode = (modeOf(first) & 0o777).toString(8).padStart(4, "0");
    const others = more.length === 0 ? "" : `, and ${more.length} more`;
    const hint =
      "`chmod -R go= FOLDER` closes it; for readers under another user see report.out and report.mode";
    return warn(`other users have rights on ${first} (${mode})${others}`, hint);
  }
  if (report.mode === null || report.out !== null) return ok("folders and files are their owner's alone");
  const hint = "set report.out to a folder of its own";
  return warn("report.mode opens the report, but the folder that it is in stays closed", hint);
}

function exportedPlaces(out: string, company: string): string[] {
  const folders = [company, `company=${company}`].map((name) => path.join(out, name));
  return folders.flatMap((folder) => [folder, ...entriesOf(folder)]);
}

/** Paths of what is in it; empty where there is no such folder, or it cannot be read. */
function entriesOf(folder: string): string[] {
  return valueOr(() => readdirSync(folder), []).map((entry) => path.join(folder, entry));
}

/** 0 where nothing is, or this user may not look. */
function modeOf(place: string): number {
  return valueOr(() => statSync(place).mode, 0);
}

/** Checks token, identity and clock (`Date`) with one request; a token that the mirror does not know costs up to three more. */
async function checkToken(scope: CompanyScope): Promise<Record<string, CheckResult>> {
  const { context, declaration, config } = scope;
  const budget = checkDataDir(config.dataDir).status === "ok" ? "file" : "memory";
  try {
    await using service = connectService(context, scope, { attempts: 2, budget });
    const { transport, skew } = service;
    const { name } = await context.showing((show) => {
      show(() => `${scope.company.name}: asking the service whose the token is`);
      return askWhoami(transport, declaration, { signal: context.signal });
    });
    // Whether the token may also write cannot be checked without writing; the mirror never needs it.
    const token = ok(`reads "${shortText(name)}"; reading is all a mirror needs`);
    const identity = await checkMirror(scope, transport, name);
    return { token, identity, clock: judgeClock(skew.skewMs()) };
  } catch (error) {
    return { token: failFrom(error) };
  }
}

/** Compares the token's company with the one that an existing mirror is pinned to. */
async function checkMirror(scope: CompanyScope, transport: Transport, name: string): Promise<CheckResult> {
  try {
    const verdict = await judgeOwnToken(scope, transport, name);
    if (verdict === null) return ok("no mirror yet: the first sync pins the company");
    if (verdict.kind === "refused") return failFrom(verdict.error);
    if ("why" in verdict) return ok(verdict.why);
    return ok(verdict.kind === "same" ? `the mirror is of "${shortText(name)}"` : "nothing pinned yet");
  } catch (error) {
    return failFrom(error);
  }
}

/** The receiver refuses deliveries that seem older than this. */
const skewFailMs = 300_000;

/** Judges by how much this machine's clock differs from the service's, as answers show it. */
export function judgeClock(skewMs: number | null): CheckResult {
  if (skewMs === null) return warn("the service does not send its time", "make sure this machine's is right");
  const hint =
    "set this machine's clock (chrony, ntpd, systemd-timesyncd): webhook deliveries are judged by it";
  const detail = skewText(skewMs);
  if (Math.abs(skewMs) >= skewFailMs) return fail(detail, hint);
  return Math.abs(skewMs) >= skewWarnMs ? warn(detail, hint) : ok(detail);
}

/** Warns about a base URL other than the published one, unless it is on this machine. */
export function checkBaseUrl(baseUrl: string, published: string): CheckResult {
  if (baseUrl === published) return ok(baseUrl);
  if (isLoopbackUrl(baseUrl)) return ok(`${baseUrl} (this machine)`);
  return warn(baseUrl, `the published address is ${published}`);
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
    return ok("no public_url: deliveries are taken, and their way here is not checked");
  if (publicUrl === null) return ok("not configured; the nightly run finds everything by itself");
  const local = isLoopbackUrl(config.baseUrl);
  const fault = await endpointFault(publicUrl, { lookup: resolve, loopback: local });
  if (fault) return (fault.certain ? fail : warn)(fault.what, fault.hint);
  const twin = config.companies.find((one) => one !== company && one.webhook.publicUrl === publicUrl);
  const another = "give each company an address of its own: its path says whose a delivery is";
  if (twin) return fail(`${publicUrl} is that of ${twin.name}, too`, another);
  const secret = "set webhook.secrets (`webhooks create` gets one): without it `serve` can take no delivery";
  if (!secrets.some(({ known }) => known)) return warn(`${publicUrl} has no secret`, secret);
  if (local && isLoopbackUrl(publicUrl)) return ok(`${publicUrl} (this machine)`);
  const expected = `/webhooks/${company.name}`;
  if (new URL(publicUrl).pathname === expected) return ok(publicUrl);
  return warn(`${publicUrl} does not end in ${expected}`, "fine if a proxy maps it there");
}

/** Refuses a URL that the service would refuse, before a request is spent on it; logs what may be a fault. Throws `usage`. */
export async function assertEndpoint({ context, config }: CompanyScope, url: string): Promise<void> {
  const fault = await endpointFault(url, { lookup: addressesOf, loopback: isLoopbackUrl(config.baseUrl) });
  if (fault?.certain) throw new MirrorError("usage", fault.what, { hint: fault.hint });
  if (fault) context.log.warn(fault.what, { hint: fault.hint });
}
