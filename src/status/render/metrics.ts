import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import { families, samplesOf } from "./metric-families.ts";
import type { CompanyStatusView } from "../company-status.ts";

/** Requests for no company and no page, by the status of the answer. */
export type Strays = Readonly<Record<string, number>>;

/**
 * Renders every metric from the companies' status at the moment of the request. Nothing is counted here, so nothing
 * can disagree, and a company that left the config disappears. A counter restarts at 0 with its company, which
 * Prometheus takes for a restart.
 */
export function createMetrics(version: string) {
  const own = new Registry();
  collectDefaultMetrics({ register: own });
  new Gauge({
    name: "fintoro_mirror_build_info",
    help: "1, with the version of this program",
    labelNames: ["version"],
    registers: [own],
  }).set({ version }, 1);
  return {
    type: own.contentType,
    render: async (views: readonly CompanyStatusView[], nowMs: number, strays: Strays = {}) => {
      const companies = registryOf(views, nowMs);
      countStrays(companies, strays);
      return `${await companies.metrics()}\n${withNaN(await own.metrics())}`;
    },
  };
}

/** The library writes "Nan" for a value it has not measured yet; strict readers accept "NaN" only. */
function withNaN(text: string): string {
  return text.replaceAll(/ Nan$/gm, " NaN");
}

function registryOf(views: readonly CompanyStatusView[], nowMs: number): Registry {
  const registry = new Registry();
  for (const family of families) {
    const { name, help, kind } = family;
    const samples = views.flatMap((view) => samplesOf(family, view, nowMs));
    const labelNames = Object.keys(samples[0]?.labels ?? { company: "" });
    const options = { name, help, labelNames, registers: [registry] };
    const metric = kind === "gauge" ? new Gauge(options) : new Counter(options);
    for (const { labels, value } of samples) metric.inc(labels, value);
  }
  return registry;
}

/** A subscription with a mistake in its path shows here: its deliveries get 404. */
function countStrays(registry: Registry, strays: Strays): void {
  const counter = new Counter({
    name: "fintoro_mirror_stray_requests_total",
    help: "Since the start: requests for no company and no page, by the status of the answer",
    labelNames: ["status"],
    registers: [registry],
  });
  for (const [status, count] of Object.entries({ 404: 0, ...strays })) counter.inc({ status }, count);
}
