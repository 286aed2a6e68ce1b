import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { SentEvent } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { endOf, firstLine, jsonLines, type Ended } from "./cli.ts";
import { look } from "../truth/compare.ts";
import type { Company } from "../company/company.ts";
import { processEnv, program } from "./process-env.ts";
import { eventually, longestWaitMs } from "../eventually.ts";

export const secret = "whsec_acme_0123456789";

export interface ServedCompany {
  readonly name: string;
  readonly token: string;
  readonly secrets?: readonly string[];
}

/** Writes config.yaml beside the mirror; one company, `acme`, unless there are others. */
export function writeServeConfig(
  company: Company,
  more = "",
  companies: readonly ServedCompany[] = [{ name: "acme", token: company.sandbox.token }],
): void {
  const entries = companies.map(
    ({ name, token, secrets = [secret] }) =>
      `  ${name}: { token: ${token}, webhook: { secrets: ${JSON.stringify(secrets)} } }`,
  );
  const lines = [`base_url: ${company.proxy.baseUrl}`, "companies:", ...entries];
  if (!more.includes("data_dir:")) lines.push("data_dir: .");
  lines.push(withoutReport(more));
  writeFileSync(path.join(company.folder, "config.yaml"), lines.join("\n"));
}

/** A report after each run is a process more; who tests it says so in a `schedule`. */
function withoutReport(more: string): string {
  return more.includes("schedule:") ? more : `${more}\nschedule: { publish: off }`;
}

/** The real program, in the company's folder; killed with the test at the latest. */
export function startIn(company: Company, args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: company.folder,
    env: processEnv(),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: longestWaitMs,
    killSignal: "SIGKILL",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

export interface Served {
  readonly child: ChildProcess;
  readonly url: string;
  /** Lines of its log so far. */
  said(): Record<string, unknown>[];
  /** Has it said that? */
  heard(message: string): boolean;
  until(message: string): Promise<void>;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Ended>;
  readonly ended: Promise<Ended>;
}

/** `serve` as a process of its own on a free port, once it answers. */
export async function serve(company: Company, args: readonly string[] = []): Promise<Served> {
  const child = startIn(company, ["serve", "--json", "--listen", "127.0.0.1:0", ...args]);
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = endOf(child);
  const line = await Promise.race([firstLine(child), ended.then(() => null)]);
  const { url } = JSON.parse(line ?? "{}") as { readonly url?: string };
  if (url === undefined) throw new Error(`serve ended: ${stderr}`);
  const said = () => jsonLines(stderr.slice(0, stderr.lastIndexOf("\n") + 1));
  const heard = (message: string) => said().some(({ msg }) => String(msg).includes(message));
  const until = (message: string) =>
    eventually(
      () => heard(message),
      () => `"${message}" in ${stderr}`,
    );
  // Deliveries get 503 until the mirror is open. One that cannot be opened is named in the log.
  const isOpen = async () => /^fintoro_mirror_database_open\{.*\} 1$/m.test(await metricsOf(url));
  const isRefused = () =>
    said().some(({ level, msg }) => level === "error" || String(msg).startsWith("waiting: "));
  await eventually(
    async () => isRefused() || isOpen(),
    () => `an open mirror, or why not, in ${stderr}`,
  );
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return { child, url, said, heard, until, end, ended };
}

async function metricsOf(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`, { headers: { connection: "close" } })).text();
}

/** A child process is over. */
export async function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

export interface DeliverOptions {
  readonly to?: string;
  readonly secret?: string;
  /** How old its timestamp is. @default 0 */
  readonly agoMs?: number;
}

/** One delivery as the service would send it; gives the status. */
export async function deliver(
  { url }: Pick<Served, "url">,
  event: SentEvent,
  { to = "acme", secret: key = secret, agoMs = 0 }: DeliverOptions = {},
): Promise<number> {
  const body = JSON.stringify(event);
  const answer = await fetch(`${url}/webhooks/${to}`, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "webhook-id": event.id,
      "webhook-timestamp": String(Math.floor((Date.now() - agoMs) / 1000)),
      "webhook-signature": createHmac("sha256", key).update(body).digest("hex"),
    },
  });
  await answer.arrayBuffer();
  return answer.status;
}

export function eventAbout(type: string, resourceType: string, id: number): SentEvent {
  return {
    id: `evt_${randomUUID()}`,
    type,
    occurredAt: new Date().toISOString(),
    resource: { type: resourceType, id },
  };
}

/** What the mirror file holds; null where there is no such table yet. */
export function inMirror(company: Company, sql: string, ...values: unknown[]): unknown {
  try {
    return look(company.file, (db) =>
      db
        .prepare(sql)
        .pluck()
        .get(...values),
    );
  } catch {
    return null;
  }
}

/** A run that read everything is in the books. */
export function wholeRuns(company: Company): number {
  return Number(inMirror(company, "SELECT count(*) FROM _runs WHERE outcome = 'complete'") ?? 0);
}

/** Processes that this one has started, and their command lines. */
export function childrenOf(parent: number | undefined): { readonly pid: number; readonly args: string }[] {
  const lines = execFileSync("ps", ["-A", "-o", "ppid=,pid=,args="], { encoding: "utf8" }).split("\n");
  const fields = lines.map((line) => line.trim().split(/\s+/));
  const own = fields.filter(([ppid]) => Number(ppid) === parent);
  return own.map(([, pid, ...args]) => ({ pid: Number(pid), args: args.join(" ") }));
}
