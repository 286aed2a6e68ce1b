import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { SandboxOptions } from "../../connectors/fintoro/sandbox/sandbox.ts";
import { startSandbox, testDay, type Sandbox } from "../support/sandbox/control.ts";
import { memoryScratch } from "../support/memory-folder.ts";
import { portToKeep, type Process } from "../support/program/serve-process.ts";
import { localDamage } from "../support/mirror/local-check.ts";
import { differences, falseTombstones, look, unreplayable } from "../support/truth/compare.ts";
import { truthOf } from "../support/truth/truth.ts";

export type ManyCompanies = Awaited<ReturnType<typeof openManyCompanies>>;

/**
 * Many companies of one sandbox, and a config for one process that serves them all. Each has a subscription to the port;
 * the caller closes them.
 */
export async function openManyCompanies(companies: number, deliveries: SandboxOptions["deliveries"]) {
  const size = { companies, records: 10, limit: 1_000_000 };
  const sending = { retryScale: 0.001, allowLoopbackWebhooks: true, deliveries };
  const sandbox = await startSandbox({ today: testDay, ...size, ...sending });
  const { path: folder, remove } = memoryScratch();
  const port = await portToKeep();
  const names = sandbox.companies.map((_, i) => `company_${i}`);
  /** Their tokens, and what their deliveries are signed with. */
  const secrets: string[] = [];
  const lines = sandbox.companies.map(({ token }, i) => {
    const secret = subscribe(sandbox, i, `http://127.0.0.1:${port}/webhooks/${names[i]}`);
    secrets.push(token, secret);
    return `  ${names[i]}: { token: ${JSON.stringify(token)}, webhook: { secrets: [${JSON.stringify(secret)}] } }`;
  });
  const head = [`base_url: ${sandbox.url}`, "data_dir: data", "http: { timeout: 10s }", "companies:"];
  writeFileSync(path.join(folder, "config.yaml"), [...head, ...lines, ""].join("\n"), { mode: 0o600 });
  const close = async () => {
    await sandbox.close();
    remove();
  };
  const mirror = (i: number) => path.join(folder, "data", `${names[i]}.db`);
  return { sandbox, folder, port, names, secrets, mirror, close };
}

function subscribe({ control }: Sandbox, company: number, url: string): string {
  const subscribedEvents = ["clients", "invoices", "orders"].flatMap((one) =>
    ["created", "updated", "deleted"].map((change) => `${one}.${change}`),
  );
  const input = { url, isActive: true, subscribedEvents };
  const { id } = control.create("webhook_subscriptions", input, company) as { readonly id: number };
  return control.secret(id, company);
}

/** How many files and sockets a process has open now. Reads `/proc`, on Linux only. */
export function openDescriptors({ child }: Process) {
  const folder = `/proc/${child.pid}/fd`;
  const targets = readdirSync(folder).flatMap((fd) => targetOf(`${folder}/${fd}`) ?? []);
  const sockets = targets.filter((target) => target.startsWith("socket:")).length;
  return { files: targets.length - sockets, sockets };
}

/** Null: closed meanwhile. */
function targetOf(descriptor: string): string | null {
  try {
    return readlinkSync(descriptor);
  } catch {
    return null;
  }
}

/** Broken invariants of the mirrors of a `serve`, once everything was read and nothing is in flight. */
export async function brokenMirrors({ sandbox, names, mirror }: ManyCompanies): Promise<string[]> {
  const broken = sandbox.control.failures().map((failure) => `the sandbox itself failed: ${String(failure)}`);
  const kept = new Set<string>();
  for (const [company, name] of names.entries()) {
    const [file, truth] = [mirror(company), truthOf(sandbox, company)];
    for (const id of eventIds(file)) kept.add(id);
    const found = [
      ...unreplayable(file).map((what) => `I2 ${what}`),
      ...falseTombstones(file, truth).map((what) => `I5 ${what}`),
      ...look(file, (db) => differences(db, truth)).map((what) => `I11 ${what}`),
      ...(await localDamage({ file })).map((what) => `against itself: ${what}`),
    ];
    broken.push(...found.map((what) => `${name}: ${what}`));
  }
  const delivered = sandbox.control.webhooks.history().filter(({ outcome }) => outcome === "delivered");
  const lost = delivered.filter(({ eventId }) => !kept.has(eventId));
  return [...broken, ...lost.map(({ type, eventId }) => `I6 ${type} ${eventId}: answered 2xx and not kept`)];
}

function eventIds(file: string): string[] {
  return look(file, (db) => db.prepare("SELECT event_id FROM _inbox").pluck().all() as string[]);
}
