import { copyFileSync, readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { openCompany } from "../support/company/open-company.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { endServe, portToKeep, startProbed, startServe } from "../support/program/serve-process.ts";
import { askProbe, longestBy, stallText, type Stall } from "../support/program/stall.ts";
import { atMost, type BenchResult } from "./result.ts";

const documents = 10_000;
/** A mirror to be looked at instead, of any company: a large one takes hours to make. */
const given = process.env["BENCH_MIRROR"];
const measuredMs = 60_000;
const mostMs = 20 * 60_000;
/** As the page's script does. */
const askedEveryMs = 2_000;
/** For what follows a start. */
const afterStartMs = 30_000;
/** Longer than what was read is kept. */
const keptMs = 6_000;
const readings = 3;
const clients = 400;
const rounds = 10;

/** What the pages of a company cost the daemon: read once, watched by one person, and by 400 at once. */
export async function benchStatusPage(): Promise<BenchResult[]> {
  await using resources = new AsyncDisposableStack();
  const opening = openCompany({ records: given === undefined ? documents : 10 });
  const company = resources.adopt(await opening, (one) => one.close());
  const { folder } = company;
  if (given !== undefined) copyFileSync(given, company.file);
  writeServeConfig(company, "schedule: { sync: off, publish: off }");
  const port = await portToKeep();
  const plain = await startServe(folder, port, mostMs);
  resources.defer(async () => void (await endServe(plain, "SIGTERM")));
  const ready = given === undefined ? '"msg":"a run ended"' : '"msg":"the mirror is open';
  while (!plain.stderr().includes(ready)) await pause(500);
  await pause(afterStartMs);
  const share = () => shareOf(plain.child.pid ?? 0);
  const alone = await share();
  const watching = setInterval(() => void answerMs(port, "/"), askedEveryMs);
  const watched = await share();
  clearInterval(watching);
  const times = (await askTogether(port)).toSorted((a, b) => a - b);
  await endServe(plain, "SIGTERM");
  // The probe of stalls takes a part of a core itself.
  const daemon = await startProbed(folder, port, mostMs);
  resources.defer(async () => void (await endServe(daemon, "SIGTERM")));
  const stallOf = async (path: string) => {
    const stalls: Stall[] = [];
    for (let reading = 0; reading < readings; reading++) {
      await pause(keptMs);
      await askProbe(daemon.child, { collect: false });
      await answerMs(port, path);
      stalls.push((await askProbe(daemon.child, { collect: false })).busiest);
    }
    return longestBy("cpuMs", stalls);
  };
  const [page, metrics] = [await stallOf("/"), await stallOf("/metrics")];
  const p99 = times[Math.floor(times.length * 0.99)] ?? Number.NaN;
  const ask = `${times.length} answers to ${clients} clients that ask every ${askedEveryMs / 1_000} s`;
  const of = given ?? `${documents} documents`;
  const thread = "against 20 ms of the main thread";
  const core = "against 1 % of a core";
  const looked = watched - alone;
  return [
    atMost(`a reading of the page ${thread}, ${of}`, page.cpuMs, 20, stallText(page)),
    atMost(`a reading of /metrics ${thread}, ${of}`, metrics.cpuMs, 20, stallText(metrics)),
    atMost(`the daemon without work ${core}, ${of}`, alone, 0.01, percent(alone)),
    atMost(`one who looks at the page ${core}, ${of}`, looked, 0.01, percent(looked)),
    atMost(`p99 of the page against 1 s, ${of}`, p99, 1_000, `${p99.toFixed(0)} ms; ${ask}`),
  ];
}

/** Share of a core that a process takes. */
async function shareOf(pid: number): Promise<number> {
  const [before, startedMs] = [processorSeconds(pid), performance.now()];
  await pause(measuredMs);
  return ((processorSeconds(pid) - before) * 1_000) / (performance.now() - startedMs);
}

/** Of Linux: ticks of processor time in a second (`getconf CLK_TCK`). */
const ticksPerSecond = 100;

/** Processor time that a process has used; with that of children that have ended. Reads `/proc`. */
function processorSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name, the second field, may contain blanks.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
}

function percent(part: number): string {
  return `${(part * 100).toFixed(2)} %`;
}

const agent = new Agent({ keepAlive: true, maxSockets: clients });

function answerMs(port: number, path: string): Promise<number> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const asked = get({ host: "127.0.0.1", port, path, agent }, (answer) =>
      answer.resume().once("end", () => resolve(performance.now() - startedMs)),
    );
    asked.once("error", reject);
  });
}

async function askTogether(port: number): Promise<number[]> {
  const client = async (_: unknown, n: number) => {
    await pause((n * askedEveryMs) / clients);
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      times.push(await answerMs(port, "/"));
      await pause(askedEveryMs);
    }
    return times;
  };
  return (await Promise.all(Array.from({ length: clients }, client))).flat();
}
