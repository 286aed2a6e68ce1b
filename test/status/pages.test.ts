import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { workerStates } from "../../src/sync/event-worker/worker-status.ts";
import type { CompanyStatusView } from "../../src/status/company-view.ts";
import {
  companyView,
  daemonPages,
  lookedAtMs,
  metricLines,
  schemaChange,
  service,
  waitingEvents,
} from "../support/status/company-view.ts";
import { aServer } from "../support/webhook/webhook.ts";

async function read(path: string, ...views: readonly CompanyStatusView[]) {
  const page = await daemonPages(() => views)[path]?.();
  if (!page) throw new Error(`there is no ${path}`);
  return page;
}

/** Its status and its JSON. */
async function said(path: string, ...views: readonly CompanyStatusView[]): Promise<unknown> {
  const { status, body } = await read(path, ...views);
  return [status, JSON.parse(body)];
}

function unreadable(): never {
  throw new Error("disk I/O error");
}

test("over HTTP each page has its type, no sniffing, and every header once", async () => {
  const views = [companyView({ open: false })];
  const { url } = await aServer({ pages: daemonPages(() => views, systemClock) });
  const types = { healthz: "application/json", readyz: "application/json", metrics: "text/plain" };
  for (const [path, type] of Object.entries(types)) {
    const { headers, status } = await fetch(`${url}/${path}`);
    expect(status).toBe(path === "readyz" ? 503 : 200);
    expect(headers.get("content-type")).toContain(type);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-security-policy")).toBe("default-src 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
});

describe("the pages of serve", () => {
  test("/healthz is 200 as long as the process answers, whatever the companies are like", async () => {
    const sick = companyView({ open: false, service: service("unauthenticated", 0) });
    for (const views of [[], [sick]])
      expect(await said("/healthz", ...views)).toEqual([200, { status: "ok", version: "1.2.3" }]);
  });

  test("/readyz is 200 only if every company is ready, and shows each", async () => {
    const well = companyView();
    const sick = companyView({ company: "beta", service: service("unauthenticated", 0, "Unauthenticated.") });
    expect(await read("/readyz", well)).toMatchObject({ status: 200 });
    const refused = { service: "unauthenticated", service_message: "Unauthenticated." };
    const beta = { ready: false, reasons: ["the service does not take the token"], ...refused };
    const companies = { acme: { ready: true, service: "working" }, beta };
    expect(await said("/readyz", well, sick)).toMatchObject([503, { ready: false, companies }]);
  });

  test("/readyz is 503 before there is any company", async () => {
    const nothing = { ready: false, companies: {}, refused_elsewhere: {} };
    expect(await said("/readyz")).toEqual([503, nothing]);
  });

  test("/readyz is 503 when the status cannot be read", async () => {
    const page = await daemonPages(unreadable)["/readyz"]?.();
    expect(page?.status).toBe(503);
    expect(JSON.parse(page?.body ?? "")).toMatchObject({ ready: false, error: "disk I/O error" });
  });

  test("/metrics shows the companies as they are at the request", async () => {
    const views = [companyView()];
    const pages = daemonPages(() => views);
    const before = await pages["/metrics"]?.();
    views.push(companyView({ company: "beta" }));
    const after = await pages["/metrics"]?.();
    expect(before?.body).not.toContain('company="beta"');
    expect(after).toMatchObject({ status: 200, type: "text/plain; version=0.0.4; charset=utf-8" });
    expect(after?.body).toContain('fintoro_mirror_database_open{company="beta"} 1');
  });
});

const scraped = (...views: readonly CompanyStatusView[]) => metricLines(() => views);

/** Samples of one metric, without the prefix of all. */
async function samples(name: string, ...views: readonly CompanyStatusView[]): Promise<string[]> {
  const lines = await scraped(...views);
  return lines
    .filter((line) => line.startsWith(`fintoro_mirror_${name}{`))
    .map((line) => line.slice("fintoro_mirror_".length));
}

const label = String.raw`[a-z_]+="(?:[^"\\\n]|\\["\\n])*"`;
const sampleLine = new RegExp(String.raw`^[a-z_][a-z0-9_]*(\{${label}(,${label})*\})? (NaN|-?[0-9.e+-]+)$`);

const oddLines = (lines: readonly string[]) =>
  lines.filter((line) => line !== "" && !line.startsWith("# ") && !sampleLine.test(line));

describe("metrics", () => {
  test("have names with a prefix, counters with _total, and a help text", async () => {
    const own = (await scraped(companyView())).filter((line) => line.includes(" fintoro_mirror_"));
    const kinds = own.flatMap((line) => /^# TYPE (\S+) (\S+)$/.exec(line)?.slice(1, 3).join(" ") ?? []);
    const helps = own.flatMap((line) => /^# HELP ([a-z_]+) .{11,}$/.exec(line)?.[1] ?? []);
    expect(helps).toHaveLength(41);
    expect(kinds.toSorted()).toEqual(
      helps.map((name) => `${name} ${name.endsWith("_total") ? "counter" : "gauge"}`).toSorted(),
    );
  });

  test("show of every company what is in its view", async () => {
    const view = companyView({
      run: { mode: "full", startedMs: lookedAtMs - 12_500 },
      sweptMs: { invoices: 1_700_000_000_500, clients: null },
      queue: [
        { resource: "invoices", kind: "detail", state: "ready", count: 3 },
        { resource: "clients", kind: "detail", state: "ready", count: 4 },
        { resource: "clients", kind: "confirm", state: "dead", count: 1 },
      ],
      requests: { 200: 57, none: 2 },
      deliveries: { stored: 7, "503": 1, odd: 2 },
      events: waitingEvents(5, 90_000),
    });
    const shown = [
      ["resource_last_success_timestamp_seconds", ',resource="invoices"', 1_700_000_000.5],
      ["resource_last_success_timestamp_seconds", ',resource="clients"', 0],
      ["run_active_seconds", "", 12.5],
      ["last_run_duration_seconds", "", 90],
      ["last_run_complete", "", 1],
      ["queue_rows", ',kind="detail",state="ready"', 7],
      ["queue_rows", ',kind="confirm",state="dead"', 1],
      ["rows_total", ',resource="invoices",op="updated"', 4],
      ["budget_waited_seconds_total", "", 1.5],
      ["budget_remaining_requests", "", 63],
      ["events_waiting", "", 5],
      ["events_oldest_waiting_seconds", "", 90],
    ] as const;
    const lines = shown.map(([name, labels, value]) => `${name}{company="acme"${labels}} ${value}`);
    const names = [...new Set(shown.map(([name]) => name))];
    expect((await Promise.all(names.map((name) => samples(name, view)))).flat()).toEqual(lines);
    expect(await samples("requests_total", view)).toContain('requests_total{company="acme",status="none"} 2');
    const odd = 'deliveries_total{company="acme",result="odd"} 2';
    expect(await samples("deliveries_total", view)).toContain(odd);
  });

  test("show the usual results as 0 before the first of them", async () => {
    const fresh = companyView({ deliveries: {}, runs: {}, requests: {} });
    const usual = {
      deliveries_total: 'result="401"',
      refused_deliveries_total: 'reason="bad_signature"',
      runs_total: 'outcome="failed"',
      requests_total: 'status="429"',
    };
    for (const [name, result] of Object.entries(usual))
      expect(await samples(name, fresh)).toContain(`${name}{company="acme",${result}} 0`);
  });

  test("show exactly one state of the service", async () => {
    for (const state of workerStates) {
      const lines = await samples("service_state", companyView({ service: service(state, 60_000) }));
      expect(lines.filter((line) => line.endsWith(" 1"))).toEqual([
        `service_state{company="acme",state="${state}"} 1`,
      ]);
      expect(lines).toHaveLength(workerStates.length);
    }
  });

  test("leave out what is not known instead of making it 0", async () => {
    const young = companyView({ lastRun: null, nextRunMs: null, budget: null });
    for (const name of ["last_run_complete", "next_run_timestamp_seconds", "budget_limit_requests"])
      expect(await samples(name, young)).toEqual([]);
    const asleep = companyView({ budget: { limit: 120, granted: 120, remaining: null, waitMs: 0 } });
    expect(await samples("budget_remaining_requests", asleep)).toEqual([]);
  });

  test("distinguish a closed file from an empty one", async () => {
    const closed = companyView({ open: false, sweptMs: { invoices: null } });
    for (const name of ["resource_last_success_timestamp_seconds", "events_waiting"])
      expect(await samples(name, closed)).toEqual([]);
    expect(await samples("deliveries_total", closed)).not.toEqual([]);
  });

  test("count what is wrong by its kind, with 0 for every kind of which nothing is", async () => {
    const drift = { subscriptions: null, schemaChanges: [schemaChange()] };
    const lines = await samples("conditions", companyView({ drift, sweptMs: { invoices: 0 } }));
    expect(lines.filter((line) => !line.endsWith(" 0"))).toEqual([
      'conditions{company="acme",kind="stale"} 1',
      'conditions{company="acme",kind="schema"} 1',
    ]);
    expect(lines).toContain('conditions{company="acme",kind="subscription"} 0');
  });

  test("stay readable with any characters in a label", async () => {
    const odd = companyView({ company: 'a"b\\c\nd', deliveries: { '"': 1 } });
    const lines = await scraped(odd);
    expect(lines).toContain(String.raw`fintoro_mirror_database_open{company="a\"b\\c\nd"} 1`);
    expect(oddLines(lines)).toEqual([]);
  });

  test("count dropped connections, and requests for no company by status alone, since clients choose the paths", async () => {
    const lines = await metricLines(() => [], systemClock, { 404: 3, 400: 1 }, 7);
    expect(lines).toContain("fintoro_mirror_dropped_connections_total 7");
    const strays = lines.filter((line) => line.startsWith("fintoro_mirror_stray_requests_total{"));
    expect(strays.toSorted((a, b) => a.localeCompare(b))).toEqual([
      'fintoro_mirror_stray_requests_total{status="400"} 1',
      'fintoro_mirror_stray_requests_total{status="404"} 3',
    ]);
    const fresh = await scraped();
    expect(fresh).toContain("fintoro_mirror_dropped_connections_total 0");
    expect(fresh).toContain('fintoro_mirror_stray_requests_total{status="404"} 0');
  });

  test("show the process and the version of the program, also without any company", async () => {
    const lines = await scraped();
    expect(lines).toContain('fintoro_mirror_build_info{version="1.2.3"} 1');
    expect(lines.join("\n")).toMatch(/^process_resident_memory_bytes /m);
  });
});
