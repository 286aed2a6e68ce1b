import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { fakturoid } from "../../../connectors/fakturoid/declaration.ts";
import { knownFakturoid } from "../../../connectors/fakturoid/known.ts";
import { startStandIn } from "../../../connectors/fakturoid/sandbox/stand-in.ts";
import { dayMs, systemClock, type Clock } from "../../../src/base/clock.ts";
import type { CompanyConfig, Config } from "../../../src/config/config.ts";
import { mirrorFiles, settingsOf } from "../../../src/store/mirror-files.ts";
import { createCompanyRun, type RunRequest } from "../../../src/runs/company-run.ts";
import { usualRun } from "../../../src/runs/run-queue.ts";
import { connectService, type ServiceConnection } from "../../../src/runs/service-connection.ts";
import { openMirror } from "../../../src/state/mirror.ts";
import type { RunSummary } from "../../../src/sync/context/run-summary.ts";
import { load } from "../connector/config.ts";
import { changesOf } from "./account-changes.ts";
import { loggingTo } from "./open-company.ts";
import { untilTheEnd } from "../http/http.ts";
import { memoryScratch } from "../memory-folder.ts";
import { seededRandom } from "../seeded-random.ts";

const accountStartMs = Date.parse("2026-11-02T01:00:00Z");

/** The system's clock on another day; time passes when somebody says so, too. */
function movedClock() {
  let offsetMs = accountStartMs - systemClock.nowMs();
  const clock: Clock = {
    nowMs: () => systemClock.nowMs() + offsetMs,
    monotonicMs: () => systemClock.monotonicMs() + offsetMs,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  };
  return { clock, pass: (ms: number) => void (offsetMs += ms) };
}

type StandIn = Awaited<ReturnType<typeof startStandIn>>;

/** Writes config.yaml beside the mirror, for `serve` that takes deliveries with this secret. */
export function writeAccountConfig(folder: string, { url, access }: StandIn, secret: string, more = "") {
  const { account, ...credentials } = access;
  const webhook = { secrets: [secret] };
  const companies = { acme: { account, contact: "office@example.com", credentials, webhook } };
  const schedule = { publish: "off", sync: "off" };
  const config = { connector: "fakturoid", base_url: url, data_dir: ".", companies, schedule };
  writeFileSync(join(folder, "config.yaml"), `${stringify(config)}${more}`);
}

/** The stand-in, and a mirror of it as the command line would make it: config, access tokens, budget file and all. */
export async function openAccount(options: Parameters<typeof startStandIn>[0] = {}, more = "") {
  const { clock, pass } = movedClock();
  const standIn = await startStandIn({ clock, ...options });
  const { path: folder, remove } = memoryScratch();
  const said: string[] = [];
  const { account, client_id, client_secret } = standIn.access;
  const { config } = load(
    `connector: fakturoid
base_url: ${standIn.url}
data_dir: ${folder}
companies:
  acme:
    account: ${account}
    contact: office@example.com
    credentials: { client_id: "\${env:ID}", client_secret: "\${env:SECRET}" }
${more}`,
    { env: { ID: client_id, SECRET: client_secret }, connectors: [knownFakturoid] },
  );
  const company = config.companies[0] as CompanyConfig;
  const context = { clock, random: seededRandom(1), log: loggingTo(said), version: "1" };
  const connect = (own: Config = config, forEventWorker = false): ServiceConnection =>
    connectService(context, settingsOf(own, company, fakturoid), { forEventWorker });
  const files = mirrorFiles(config, "acme");

  const sync = async (request: Partial<RunRequest> = {}): Promise<RunSummary> => {
    await using service = connect();
    const { transport, rateLimiter } = service;
    using mirror = await openMirror(files.mirror, fakturoid, { log: context.log });
    const never = new AbortController().signal;
    const asked = { ...usualRun, resources: fakturoid.resources, closed: never, ...request };
    const run = createCompanyRun(context, { config, company }, mirror, transport, rateLimiter, asked);
    return await run.perform(never);
  };
  return {
    standIn,
    changes: changesOf(standIn.books, clock),
    folder,
    files,
    config,
    company,
    said,
    connect,
    sync,
    pass,
    passDays: (days: number) => pass(days * dayMs),
    /** Paths of the requests since the last call. */
    asked: (() => {
      let from = 0;
      return () => standIn.visits.slice(from, (from = standIn.visits.length)).map(({ path: one }) => one);
    })(),
    close: async () => {
      await standIn.close();
      remove();
    },
  };
}

export type Account = Awaited<ReturnType<typeof openAccount>>;

export async function openForTest(...args: Parameters<typeof openAccount>): Promise<Account> {
  return untilTheEnd(await openAccount(...args));
}
