import { collectDefaultMetrics, Registry } from "prom-client";

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * One metric as Prometheus reads it; the library's own counters take ten times as long. The end of a name says its kind
 * and unit: `_total` is a counter, `_seconds` is given in milliseconds.
 */
export function metricText(name: string, help: string, shown: number | readonly Sample[]): string {
  const isCounter = name.endsWith("_total");
  const whole = `fintoro_mirror_${name}`;
  const perUnit = name.includes("_seconds") ? 1000 : 1;
  const samples = typeof shown === "number" ? [{ labels: {}, value: shown }] : shown;
  const lines = samples.map(({ labels, value }) => `${whole}${labelsText(labels)} ${value / perUnit}`);
  const head = `# HELP ${whole} ${isCounter ? "Since the start: " : ""}${help}`;
  return [head, `# TYPE ${whole} ${isCounter ? "counter" : "gauge"}`, ...lines, ""].join("\n");
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

function labelsText(labels: Sample["labels"]): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapedText(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapedText(text: string): string {
  return text.replaceAll(/[\\"\n]/g, (one) => escapes[one] ?? one);
}

/** Samples with one label; `usual` values are there also before they were counted. Null counts as 0. */
export function byKey(
  label: string,
  counts: Readonly<Record<string, number | null>>,
  usual: readonly string[] = [],
): Sample[] {
  const all: typeof counts = { ...Object.fromEntries(usual.map((key) => [key, 0])), ...counts };
  return Object.entries(all).map(([key, value]) => ({ labels: { [label]: key }, value: value ?? 0 }));
}

/** Which program this is. */
export function buildInfo(labels: Sample["labels"]): string {
  return metricText("build_info", "1, with the version of this program", [{ labels, value: 1 }]);
}

/** What Prometheus shows of a process: memory, processor time, event loop. */
export function createProcessMetrics() {
  const own = new Registry();
  collectDefaultMetrics({ register: own });
  // The library writes "Nan" for a value it has not measured yet; strict readers accept "NaN" only.
  const text = async () => (await own.metrics()).replaceAll(/ Nan$/gm, " NaN");
  return { type: own.contentType, text };
}
