import type { ChildProcess } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { openDatabase } from "../../../src/store/database.ts";
import { endOf, type Ended } from "../../support/program/cli.ts";
import { memoryScratch } from "../../support/memory-folder.ts";
import { spawnProgram, type Start } from "../../support/program/process-env.ts";

const preload = new URL("../../support/crash/points.ts", import.meta.url).href;

/** What one process does, and what must hold when it died at any of its points. */
export interface CrashScenario {
  /** Is each statement that writes a point, too? */
  readonly countsStatements: boolean;
  /** Does it answer others, who then know more than its files say? */
  readonly isAnswering?: boolean;
  /** The state before; each attempt works in a copy. */
  readonly base: string;
  run(attempt: Attempt): Promise<Ended>;
  afterCrash(attempt: Attempt): string[] | Promise<string[]>;
  /** Starts again, without a crash; what is wrong in the end. */
  finish(attempt: Attempt): Promise<string[]>;
  /** Ends what it works with beside its folder. */
  close?(): Promise<void>;
}

export interface Attempt {
  readonly folder: string;
  /** Of a process that is to die at the point. */
  readonly env: Readonly<Record<string, string>>;
}

export interface CrashResult {
  /** Of the point where the process died; null: it ended before. */
  readonly point: string | null;
  readonly reached: number;
  readonly broken: readonly string[];
}

/** Opens a scenario, and gives what `use` finds; nothing of it stays. */
export async function withScenario<T>(
  open: () => Promise<CrashScenario>,
  use: (scenario: CrashScenario) => Promise<T>,
): Promise<T> {
  const scenario = await open();
  try {
    return await use(scenario);
  } finally {
    await scenario.close?.();
    rmSync(scenario.base, { recursive: true, force: true });
  }
}

const logName = "points.log";

/** The points of an undisturbed process, in their order. */
export function pointsOf(scenario: CrashScenario): Promise<string[]> {
  return undisturbed(scenario, {});
}

/**
 * The numbers of the points of an undisturbed process, from 1, by what a start after a crash there would find: points
 * between which no file changed are one class. Where somebody outside learns of progress (`isAnswering`), points of a
 * class have the same place in the code as well.
 */
export async function classesOf(scenario: CrashScenario): Promise<number[][]> {
  const classes = new Map<string, number[]>();
  for (const [index, line] of (await undisturbed(scenario, { CRASH_STATES: "" })).entries()) {
    const key = scenario.isAnswering ? line : line.slice(0, line.indexOf(" "));
    classes.set(key, [...(classes.get(key) ?? []), index + 1]);
  }
  return [...classes.values()];
}

function undisturbed(scenario: CrashScenario, more: Readonly<Record<string, string>>): Promise<string[]> {
  const use = async (attempt: Attempt) => {
    const { code, stderr } = await scenario.run(attempt);
    if (code !== 0) throw new Error(`undisturbed, it ended with ${code}: ${stderr}`);
    return pointsIn(attempt);
  };
  return withAttempt(scenario, 0, use, more);
}

/** Lets the process die at a point, counted from 1, and starts it again. */
function crashAt(scenario: CrashScenario, number: number): Promise<CrashResult> {
  return withAttempt(scenario, number, async (attempt) => {
    const { code, stderr } = await scenario.run(attempt);
    const points = pointsIn(attempt);
    const point = code === null ? (points[number - 1] ?? null) : null;
    const odd = code === null || code === 0 ? [] : [`ended with ${code} before it could die: ${stderr}`];
    const crashed = await named("after the crash", () => scenario.afterCrash(attempt));
    const finished = await named("in the end", () => scenario.finish(attempt));
    return { point, reached: points.length, broken: [...odd, ...crashed, ...finished] };
  });
}

/**
 * Not every process comes to as many points as the undisturbed one: then it dies as far on its own way.
 *
 * @param count of the undisturbed process' points
 */
export async function crashOnTheWay(
  scenario: CrashScenario,
  number: number,
  count: number,
): Promise<CrashResult> {
  let result = await crashAt(scenario, number);
  for (let tries = 0; tries < 5 && result.point === null && result.broken.length === 0; tries++)
    result = await crashAt(scenario, Math.max(1, Math.floor((number / count) * result.reached)));
  return result;
}

async function named(when: string, look: () => string[] | Promise<string[]>): Promise<string[]> {
  try {
    return (await look()).map((what) => `${when}: ${what}`);
  } catch (error) {
    return [`${when}: ${error instanceof Error ? error.stack : String(error)}`];
  }
}

async function withAttempt<T>(
  scenario: CrashScenario,
  number: number,
  use: (attempt: Attempt) => Promise<T>,
  more: Readonly<Record<string, string>> = {},
): Promise<T> {
  using scratch = memoryScratch();
  const folder = scratch.path;
  cpSync(scenario.base, folder, { recursive: true });
  const env = {
    CRASH_LOG: path.join(folder, logName),
    CRASH_AT: String(number),
    ...more,
    ...(scenario.countsStatements && { CRASH_STATEMENTS: "" }),
  };
  return await use({ folder, env });
}

function pointsIn({ folder }: Attempt): string[] {
  return readFileSync(path.join(folder, logName), "utf8").trimEnd().split("\n");
}

/** Starts the program, unless `start` names another file, in the attempt's folder; it dies at the point. */
export function startToDie(
  { folder, env }: Attempt,
  args: readonly string[],
  start: Start = {},
): ChildProcess {
  return spawnProgram(args, { cwd: folder, env, nodeOptions: ["--import", preload], ...start });
}

export function runToDie(...started: Parameters<typeof startToDie>): Promise<Ended> {
  return endOf(startToDie(...started));
}

/** The same without a crash: it must end well. */
export async function succeed(cwd: string, args: readonly string[], start: Start = {}): Promise<void> {
  const { code, stderr } = await endOf(spawnProgram(args, { cwd, ...start }));
  if (code !== 0) throw new Error(`${args.slice(0, 2).join(" ")} ended with ${code}: ${stderr}`);
}

/** What a query gives of a database; in its place what SQLite finds wrong with it. */
export function soundly(file: string, sql: string): string {
  using db = openDatabase(file, { readonly: true });
  const found = String(db.pragma("integrity_check", { simple: true }));
  return found === "ok" ? String(db.prepare(sql).pluck().get()) : `damaged: ${found}`;
}

/** Names of all files below a folder, without what SQLite and this test keep there. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== logName && !/-(?:wal|shm)$/.test(entry.name))
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .toSorted();
}

export function differingNames(expected: readonly string[], found: readonly string[]): string[] {
  return [
    ...found.filter((name) => !expected.includes(name)).map((name) => `left over: ${name}`),
    ...expected.filter((name) => !found.includes(name)).map((name) => `not there: ${name}`),
  ];
}
