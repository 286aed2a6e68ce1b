import { seededRandom } from "../../support/seeded-random.ts";

/** What is done to a node, or to Postgres, and when. */
export type Disturbance = NodeDisturbance | PostgresDisturbance;

interface Timed {
  /** Since the start of the chaos. */
  readonly atMs: number;
  readonly lastsMs: number;
}

/** `kill`: SIGKILL, and a new process later. `stop`: SIGSTOP, and SIGCONT later. `restart`: SIGTERM, and a new process. */
interface NodeDisturbance extends Timed {
  readonly what: "kill" | "stop" | "restart";
  /** From 0. */
  readonly node: number;
}

export interface PostgresDisturbance extends Timed {
  readonly what: "postgres";
  readonly mode: "fast" | "immediate";
}

interface PlanOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly nodes: number;
  /** So many nodes are disturbed at the same time. The others must be able to hold all companies. */
  readonly atOnce: number;
}

interface Span {
  readonly least: number;
  readonly most: number;
}

/** Between two disturbances. */
const gapMs: Span = { least: 4_000, most: 12_000 };
/** Most stops are longer than a lease, some are shorter: both must hold. */
const stopMs: Span = { least: 5_000, most: 40_000 };
const downMs: Span = { least: 0, most: 10_000 };
/** After a disturbance its node is left alone for so long: it starts, and takes companies. */
const restMs = 6_000;

/** The disturbances of a seed, in order: the same seed gives the same plan. */
export function planOf({ seed, durationMs, nodes, atOnce }: PlanOptions): readonly Disturbance[] {
  const random = seededRandom(seed);
  const between = ({ least, most }: Span) => Math.round(least + random.next() * (most - least));
  const busyUntilMs = Array.from({ length: nodes }, () => 0);
  const plan: Disturbance[] = [];
  for (let atMs = between(gapMs); atMs < durationMs; atMs += between(gapMs)) {
    const free = busyUntilMs.flatMap((untilMs, node) => (untilMs <= atMs ? [node] : []));
    const node = free[Math.floor(random.next() * free.length)];
    const kind = random.next();
    if (kind < 0.2) {
      plan.push({ atMs, lastsMs: 0, what: "postgres", mode: kind < 0.1 ? "fast" : "immediate" });
    } else if (node !== undefined && nodes - free.length < atOnce) {
      const what = kind < 0.5 ? "kill" : kind < 0.85 ? "stop" : "restart";
      const lastsMs = between(what === "stop" ? stopMs : downMs);
      busyUntilMs[node] = atMs + lastsMs + restMs;
      plan.push({ atMs, lastsMs, what, node });
    }
  }
  return plan;
}

/** One line for people. */
export function disturbanceText(one: Disturbance): string {
  const at = `${(one.atMs / 1_000).toFixed(1)} s:`;
  if (one.what === "postgres") return `${at} restart Postgres (${one.mode})`;
  return `${at} ${one.what} node ${one.node + 1} for ${(one.lastsMs / 1_000).toFixed(1)} s`;
}
