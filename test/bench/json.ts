/** What cutting costs beside JSON.parse of the whole answer. Run alone: `node test/bench/json.ts`. */
import { hash } from "node:crypto";
import { pathToFileURL } from "node:url";
import { cutList } from "../../src/json/cut.ts";
import { parseLossless } from "../../src/json/lossless.ts";
import { invoicePage, type Escaping } from "../support/json/page.ts";

export interface BenchResult {
  readonly name: string;
  readonly ratio: number;
  readonly aim: string;
  readonly detail: string;
}

const records = 500;
const warmupRounds = 10;
const rounds = 60;

export function benchJson(): Promise<BenchResult[]> {
  return Promise.resolve([...benchPage("utf8"), ...benchPage("escaped")]);
}

function benchPage(escaping: Escaping): BenchResult[] {
  const body = invoicePage(records, escaping);
  const [native, all, hashed] = medians([
    () => parseNatively(body),
    () => cutAndParse(body),
    () => cutAndHash(body),
  ]);
  const result = (name: string, timeMs: number, aim: string): BenchResult => ({
    name: `json: ${name}, ${escaping}`,
    ratio: timeMs / native,
    aim,
    detail: `${timeMs.toFixed(2)} ms against JSON.parse ${native.toFixed(2)} ms, ${records} records, ${body.length} bytes`,
  });
  return [
    result("cut and parse every slice / JSON.parse", all, "at most 1.8"),
    result("cut, id and SHA-1 of every slice / JSON.parse", hashed, "at most 1.0"),
  ];
}

const orders = [
  [0, 1, 2],
  [1, 2, 0],
  [2, 0, 1],
] as const;

/**
 * Interleaved in turning order, so that a busy machine is busy for all of them and none always sweeps up
 * after the same other. Each gives something that is looked at.
 */
function medians(works: readonly [() => number, () => number, () => number]): [number, number, number] {
  const times: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < warmupRounds + rounds; round++) {
    for (const index of orders[round % orders.length] ?? []) {
      const startedNs = process.hrtime.bigint();
      if (works[index]() !== records) throw new Error("the work was not done");
      const tookMs = Number(process.hrtime.bigint() - startedNs) / 1e6;
      if (round >= warmupRounds) times[index].push(tookMs);
    }
  }
  return [median(times[0]), median(times[1]), median(times[2])];
}

function median(times: number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
}

function parseNatively(body: Buffer): number {
  return (JSON.parse(body.toString()) as { data: unknown[] }).data.length;
}

function cutAndParse(body: Buffer): number {
  const parsed: unknown[] = [];
  for (const { slice } of cutList(body).records) parsed.push(parseLossless(slice));
  return parsed.length;
}

function cutAndHash(body: Buffer): number {
  const hashes = new Map<string, Buffer>();
  for (const { slice, id } of cutList(body).records) hashes.set(id ?? "", hash("sha1", slice, "buffer"));
  return hashes.size;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const { name, ratio, aim, detail } of await benchJson()) {
    process.stdout.write(`${ratio.toFixed(2)}  ${name} (${aim}; ${detail})\n`);
  }
}
