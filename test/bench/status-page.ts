import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { openCompany } from "../support/company/open-company.ts";
import { endServe, portToKeep, startServe, writeEventsConfig } from "../support/program/serve-process.ts";
import type { BenchResult } from "./result.ts";

const documents = 10_000;
const measuredMs = 60_000;
const mostMs = 20 * 60_000;
/** As the page's script does. */
const askedEveryMs = 2_000;
/** Of a core. */
const aim = 0.01;

/** What one person who looks at the page of a company with 10,000 documents costs the daemon. */
export async function benchStatusPage(): Promise<BenchResult[]> {
  const company = await openCompany({ records: documents });
  const { folder, proxy, sandbox } = company;
  const facts = { folder, baseUrl: proxy.baseUrl, token: sandbox.token, secret: "whsec_acme_0123456789" };
  writeEventsConfig(facts, "schedule: { sync: off, publish: off }");
  const port = await portToKeep();
  const daemon = await startServe(folder, port, mostMs);
  try {
    while (!daemon.stderr().includes('"msg":"a run ended"')) await pause(500);
    await pause(5_000);
    const pid = daemon.child.pid ?? 0;
    const alone = await share(pid);
    const ended = new AbortController();
    const pages = await follow(port, ended.signal);
    const watched = await share(pid);
    ended.abort();
    const detail = `${percent(watched)} of a core with a reader, ${percent(alone)} without; ${pages.count()} pages that differed, ${pages.bytes()} bytes`;
    return [
      {
        name: "a page that is looked at against 1 % of a core",
        ratio: (watched - alone) / aim,
        aim: "at most 1",
        detail,
      },
    ];
  } finally {
    await endServe(daemon, "SIGTERM");
    await company.close();
  }
}

/** What a browser does: it asks for the page again with its tag. */
async function follow(port: number, signal: AbortSignal) {
  let [count, bytes, tag] = [0, 0, ""];
  const ask = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { "If-None-Match": tag }, signal });
    tag = answer.headers.get("ETag") ?? "";
    bytes += (await answer.arrayBuffer()).byteLength;
    if (answer.status === 200) count++;
  };
  await ask();
  const asking = setInterval(() => void ask().catch(() => undefined), askedEveryMs);
  signal.addEventListener("abort", () => clearInterval(asking));
  return { count: () => count, bytes: () => bytes };
}

/** Share of a core that a process takes in a minute, on Linux. */
async function share(pid: number): Promise<number> {
  const cpuMs = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  };
  const before = cpuMs();
  const startedMs = performance.now();
  await pause(measuredMs);
  return (cpuMs() - before) / (performance.now() - startedMs);
}

function percent(part: number): string {
  return `${(part * 100).toFixed(2)} %`;
}
