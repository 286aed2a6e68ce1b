import { describe, expect, test } from "vitest";
import { workerStates } from "../../src/sync/event-worker/worker-status.ts";
import { backupStep, reportStep } from "../../src/status/after-run-record.ts";
import { at, documentsOf, example } from "../support/docs/examples.ts";
import { lookedAtMs, companyView, metricLines } from "../support/status/company-view.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly annotations: { readonly summary: string };
}

const rules = at(documentsOf("prometheus/alerts.yaml")[0], "groups", 0, "rules") as Rule[];
const madeAt = new Date(lookedAtMs - 3_600_000).toISOString();
const success = { at: madeAt, last_success_at: madeAt, age_ms: 3_600_000 };
const done = { ...success, duration_ms: 900, seq: 1, error: null };
const steps = [reportStep, backupStep].map((step) => ({ step, outcome: "written" as const, ...done }));
const { receiver } = companyView();
const view = companyView({
  receiver: { ...receiver, clock_skew_seconds: 3 },
  afterRun: { steps, problem: null, isReportScheduled: true },
  queue: [{ resource: "invoices", kind: "detail", state: "dead", count: 1 }],
  run: { mode: "full", startedMs: lookedAtMs },
});
const samples = await metricLines(() => [view]);

function labelsOf(metric: string): Map<string, string>[] {
  const lines = samples.filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
  return lines.map(
    (line) => new Map([...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value])),
  );
}

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const { panels } = JSON.parse(example("grafana/dashboard.json")) as { panels: Panel[] };
/** What alerts and the dashboard ask Prometheus for, and the text that shows its labels. */
const queries = [
  ...rules.map(({ alert, expr, annotations }) => [alert, expr, annotations.summary] as const),
  ...panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => [`the dashboard's ${title}`, expr, legendFormat] as const),
  ),
];

test.each(queries)(
  "%s asks for what /metrics tells, and names it with labels it has: %s",
  (_, expr, text) => {
    const metrics = [...expr.matchAll(/\bfintoro_mirror_\w+/g)].map(([name]) => name);
    expect(metrics).toHaveLength(expr.startsWith("up{") ? 0 : 1);
    const samplesOf = metrics.flatMap(labelsOf);
    if (metrics.length > 0) expect(samplesOf, metrics[0]).not.toEqual([]);
    const known = [...(samplesOf[0]?.keys() ?? [])];
    for (const [, label = "", values = ""] of expr.matchAll(/(\w+)=~?"([^"$]+)"/g)) {
      const there = samplesOf.map((labels) => labels.get(label));
      if (metrics.length > 0) expect(there, label).toEqual(expect.arrayContaining(values.split("|")));
    }
    const kept = /by \(([^)]+)\)/.exec(expr)?.[1]?.split(/, */) ?? known;
    expect(known).toEqual(expect.arrayContaining(metrics.length > 0 ? kept : []));
    for (const [, label] of text.matchAll(/(?:\$labels\.|\{\{)(\w+)/g)) expect(kept).toContain(label);
  },
);

describe("an alert", () => {
  test("lasts for minutes or hours before anybody hears of it", () => {
    expect(rules.map((rule) => rule.for ?? "0m").filter((lasting) => !/^\d+[mh]$/.test(lasting))).toEqual([]);
  });

  test("of a backup that was never made leaves a new machine until its next slot", () => {
    const never = rules.filter(({ expr }) => expr.includes("backup_last_success"));
    expect(never.map(({ expr }) => expr.endsWith(" == 0"))).toEqual([true]);
    expect(parseInt(never[0]?.for ?? "0h")).toBeGreaterThan(24);
    expect(rules.map(({ expr }) => expr).join("\n")).toContain("backup_age_seconds >");
  });

  test("is there for everything that only a person can put right", () => {
    const all = rules.map(({ expr }) => expr).join("\n");
    for (const state of workerStates.filter((one) => !["starting", "working", "database"].includes(one)))
      expect(all).toContain(state);
    const ages = ["database_open", "last_success", "deliveries_refused", "oldest_waiting", "oldest_reader"];
    for (const sign of [...ages, 'state="dead"', 'kind="subscription"', 'kind="schema"'])
      expect(all).toContain(sign);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });
});
