import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { followRemoteSync, type RemoteRun } from "../../src/cli/commands/sync.ts";
import { askDaemon, formatSyncOptions, serveCommands } from "../../src/host/commands.ts";
import type { OpenCompany } from "../../src/host/host-context.ts";
import type { RunRequest } from "../../src/runs/company-run.ts";
import type { RunQueue } from "../../src/runs/run-queue.ts";
import { emptySummary } from "../../src/sync/context/run-summary.ts";
import { eventually } from "../support/eventually.ts";
import { openShop, resourceOf } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { recordingLog, view } from "../support/terminal/terminal.ts";

const clock = systemClock;
type DaemonCommand = Parameters<typeof askDaemon>[1];
type OtherCommands = Parameters<typeof serveCommands>[1];

function requestOf(more: Partial<RunRequest> = {}): RunRequest {
  const closed = new AbortController().signal;
  const flags = { quick: false, full: true, allowMassDelete: true, acceptIdentity: false, scrub: false };
  return { resources: [resourceOf("people")], ...flags, mostRequests: 7, closed, ...more };
}

const replay: OtherCommands["replay"] = (ids, into) => {
  into.queued += ids.length;
  into.missing.push(...ids.slice(0, 1));
};
const prune: OtherCommands["prune"] = () => Promise.reject(new Error("the disk is full"));

/** A daemon that takes commands; each run lasts until it is released. */
async function startDaemon(folder = tempFolder()) {
  const { declaration } = await openShop();
  const file = join(folder, "shop.sock");
  const close = new AbortController();
  const closed = close.signal;
  onTestFinished(() => close.abort());
  const asked: RunRequest[] = [];
  const held: (() => void)[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const run: RunQueue["run"] = (request, _why, isNeeded) => {
    const ended = last.then(async () => {
      if (isNeeded?.() === false) return null;
      asked.push(request);
      await new Promise<void>((resolve) => held.push(resolve));
      return emptySummary(clock, "2026-11-20T09:00:00.000Z", closed.aborted ? "stopped" : "complete");
    });
    last = ended;
    return ended;
  };
  const progress: RunQueue["progress"] = (request) => (asked.at(-1) === request ? view({ queued: 5 }) : null);
  const company = {
    settings: { files: { socket: file }, declaration },
    context: { clock, log: recordingLog().log },
    closed,
    runQueue: { run, progress },
    // Only what commands need of a company.
  } as unknown as OpenCompany;
  const open = serveCommands(company, { replay, prune });
  await eventually(() => existsSync(file), "a socket");
  const ask = (kind: DaemonCommand["kind"], options: unknown, signal = new AbortController().signal) =>
    askDaemon(file, { kind, options } as DaemonCommand, signal);
  return { file, close, asked, held, open, ask };
}

describe("commands of other processes", () => {
  test("a sync is made as it was asked for, one after another, and each gets its report and progress", async () => {
    const { file, asked, held, open, ask } = await startDaemon();
    const seen: unknown[] = [];
    const command = { kind: "sync", options: formatSyncOptions(requestOf(), null) } as const;
    const first = askDaemon(file, command, new AbortController().signal, (one) => seen.push(one?.queued));
    await eventually(() => held.length === 1, "a run");
    const changed = requestOf({ full: false, mostRequests: undefined, shard: "2/3" });
    const second = ask("sync", formatSyncOptions(changed, null));
    await eventually(() => open.size === 2, "a second command");
    await eventually(() => seen.includes(5), "progress");
    expect([...open].map(({ kind, pid, state }) => [kind, pid, state])).toEqual([
      ["sync", process.pid, "running"],
      ["sync", process.pid, "waiting"],
    ]);
    held[0]?.();
    expect(await first).toMatchObject({ outcome: "complete" });
    await eventually(() => held.length === 2, "the second run");
    held[1]?.();
    expect(await second).toMatchObject({ outcome: "complete" });
    expect(asked.map((one) => [one.full, one.allowMassDelete, one.mostRequests, one.shard])).toEqual([
      [true, true, 7, undefined],
      [false, true, undefined, "2/3"],
    ]);
    expect(asked[0]?.resources.map(({ name }) => name)).toEqual(["people"]);
    await eventually(() => open.size === 0, "nothing open");
  });

  test("a replay does not wait for a run, goes in portions, and their answers are summed", async () => {
    const { held, ask } = await startDaemon();
    ask("sync", formatSyncOptions(requestOf(), null)).catch(() => undefined);
    await eventually(() => held.length === 1, "a run");
    const ids = Array.from({ length: 2500 }, (_, index) => `evt_${index}`);
    const missing = ["evt_0", "evt_1000", "evt_2000"];
    expect(await ask("replay", { ids })).toEqual({ queued: 2500, unread: 0, missing, pruned: [] });
    expect(await ask("replay", { ids: [] })).toMatchObject({ queued: 0, unread: 0 });
  });

  test("what cannot be done says why", async () => {
    const { ask } = await startDaemon();
    await expect(ask("prune", {})).rejects.toThrow("the disk is full");
  });

  test("a run that the daemon refuses is refused: it is not asked for again", async () => {
    const { file } = await startDaemon();
    const scope = {
      company: { name: "shop" },
      files: { socket: file },
      context: { clock, log: recordingLog().log, signal: new AbortController().signal },
      // Only what following a run needs of a company.
    } as unknown as RemoteRun["scope"];
    const request = requestOf({ resources: [{ ...resourceOf("people"), name: "no_such_table" }] });
    const asked = { scope, request, untilMs: null, startedAt: "2026-11-20T09:00:00.000Z" };
    const hooks = { show: () => undefined, onListed: () => Promise.resolve() };
    const message = expect.stringMatching(/could not do it: .* this daemon does not know$/) as string;
    await expect(followRemoteSync({ ...asked, ...hooks })).rejects.toMatchObject({ kind: "usage", message });
  });

  test("its time is over when the asker's is", async () => {
    const { asked, held, ask } = await startDaemon();
    ask("sync", formatSyncOptions(requestOf(), clock.nowMs() + 2_000)).catch(() => undefined);
    await eventually(() => held.length === 1, "a run");
    await eventually(() => asked[0]?.closed.aborted === true, "the end of its time");
  });

  // Fault: process | the process that asked the daemon has ended | the daemon's commands | what has not begun is dropped; what has begun is done
  test("a command that nobody waits for does not begin", async () => {
    const { asked, held, open, ask } = await startDaemon();
    const [first, second] = [new AbortController(), new AbortController()];
    const begun = ask("sync", formatSyncOptions(requestOf(), null), first.signal);
    await eventually(() => held.length === 1, "a run");
    const waiting = ask("sync", formatSyncOptions(requestOf({ shard: "2/3" }), null), second.signal);
    await eventually(() => open.size === 2, "a second command");
    first.abort();
    second.abort();
    for (const one of [begun, waiting]) await expect(one).rejects.toMatchObject({ kind: "stopped" });
    await eventually(() => open.size === 1, "one command");
    held[0]?.();
    await eventually(() => open.size === 0, "nothing open");
    expect(asked.map(({ shard }) => shard ?? null)).toEqual([null]);
  });

  test("one that our own end cuts off gets no answer: its asker sees the connection end", async () => {
    const { file, close, held } = await startDaemon();
    const command = { kind: "sync", options: formatSyncOptions(requestOf(), null) } as const;
    const seen: unknown[] = [];
    const following = askDaemon(file, command, new AbortController().signal, (one) => seen.push(one));
    await eventually(() => held.length === 1 && seen.length > 0, "a run that is followed");
    close.abort();
    held[0]?.();
    await expect(following).rejects.toMatchObject({ kind: "locked", retryable: true });
  });
});

describe("the socket", () => {
  // Fault: process | the process that asked the daemon is killed | the daemon's commands | what it did not read harms nobody
  test("of an asker that died without reading takes the daemon not with it", async () => {
    const { file, open, ask } = await startDaemon();
    const dying = connect(file).pause();
    const command = { kind: "sync", options: formatSyncOptions(requestOf(), null), pid: 1 };
    dying.write(`${JSON.stringify(command)}\n`);
    await eventually(() => open.size === 1, "a command");
    dying.destroy();
    expect(await ask("replay", { ids: ["evt_1"] })).toMatchObject({ queued: 1 });
  });

  test("of a process that was killed is in nobody's way, and a long way to it neither", async () => {
    const folder = join(tempFolder(), "a".repeat(90), "b".repeat(90));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "shop.sock"), "");
    const { ask } = await startDaemon(folder);
    await expect.poll(() => ask("replay", { ids: [] })).toMatchObject({ queued: 0 });
  });

  test("that nobody listens at is no daemon; nonsense harms nothing", async () => {
    const nobody = join(tempFolder(), "no.sock");
    const command = { kind: "prune", options: {} } as const;
    const { signal } = new AbortController();
    await expect(askDaemon(nobody, command, signal)).rejects.toMatchObject({ kind: "locked" });
    const server = createServer((socket) => socket.end("{nonsense\n")).listen(nobody);
    onTestFinished(() => void server.close());
    await expect(askDaemon(nobody, command, signal)).rejects.toMatchObject({ kind: "locked" });
  });
});
