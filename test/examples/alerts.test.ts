import { describe, expect, test } from "vitest";
import { workerStates } from "../../src/sync/event-worker/worker-status.ts";
import { backupStep, reportStep } from "../../src/status/after-run-record.ts";
import { createMetrics } from "../../src/status/render/metrics.ts";
import { at, documentsOf, example } from "../support/docs/examples.ts";
import { lookedAtMs, companyView, noOthers } from "../support/status/company-view.ts";

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
const samples = (await createMetrics("1.2.3").render([view], lookedAtMs, noOthers, 0)).split("\n");

/** The labels of every sample of a metric. */
function labelsOf(metric: string): Map<string, string>[] {
  const lines = samples.filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
  return lines.map(
    (line) => new Map([...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value])),
  );
}

describe("an alert", () => {
  test.each(rules.map((rule) => [rule.alert, rule] as const))(
    "%s asks for what /metrics tells, and says whose it is with labels it has",
    (_, { expr, annotations, for: lasting = "0m" }) => {
      const metrics = [...expr.matchAll(/\bfintoro_mirror_\w+/g)].map(([name]) => name);
      expect(metrics.length + (expr.startsWith("up{") ? 1 : 0)).toBe(1);
      const [metric] = metrics;
      if (metric !== undefined) expect(labelsOf(metric), metric).not.toEqual([]);
      for (const [, label = "", values = ""] of expr.matchAll(/(\w+)=~?"([^"]+)"/g)) {
        const there = metric === undefined ? null : labelsOf(metric).map((labels) => labels.get(label));
        if (there) expect(there, `${metric} ${label}`).toEqual(expect.arrayContaining(values.split("|")));
      }
      const kept = /by \((\w+)\)/.exec(expr)?.[1]?.split(",");
      const there = kept ?? [...(labelsOf(metric ?? "")[0]?.keys() ?? [])];
      for (const [, label] of annotations.summary.matchAll(/\$labels\.(\w+)/g))
        expect(there).toContain(label);
      expect(lasting).toMatch(/^\d+[mh]$/);
    },
  );

  test("of a backup that was never made leaves a new machine until its next slot", () => {
    const never = rules.filter(({ expr }) => expr.includes("backup_last_success"));
    expect(never.map(({ expr }) => expr.endsWith(" == 0"))).toEqual([true]);
    expect(parseInt(never[0]?.for ?? "0h")).toBeGreaterThan(24);
    expect(rules.some(({ expr }) => expr.includes("backup_age_seconds >"))).toBe(true);
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

interface Panel {
  readonly title: string;
  readonly datasource: object;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

describe("the dashboard", () => {
  const dashboard = JSON.parse(example("grafana/dashboard.json")) as { panels: Panel[] };
  const targets = dashboard.panels.flatMap(({ title, targets: all }) =>
    all.map((one) => [title, one] as const),
  );

  test.each(targets)("%s: draws what /metrics tells, and names it with labels it has", (_, target) => {
    const [metric = "", ...others] = [...target.expr.matchAll(/\bfintoro_mirror_\w+/g)].map(([name]) => name);
    expect(others).toEqual([]);
    expect(labelsOf(metric), metric).not.toEqual([]);
    const kept = /by \(([^)]+)\)/.exec(target.expr)?.[1]?.split(", ");
    const there = kept ?? [...(labelsOf(metric)[0]?.keys() ?? [])];
    for (const [, label] of target.legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(there).toContain(label);
    for (const label of kept ?? []) expect([...(labelsOf(metric)[0]?.keys() ?? [])]).toContain(label);
  });
});
