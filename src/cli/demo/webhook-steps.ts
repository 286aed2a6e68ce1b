import { statSync } from "node:fs";
import { formatDuration } from "../../base/units.ts";
import { InboxView } from "../../state/inbox/inbox.ts";
import { Runs } from "../../state/runs.ts";
import { readDatabase } from "../../store/database.ts";
import {
  demoCompany,
  failedCommand,
  queryRow,
  writeTokenVariable,
  type DemoProcess,
  type DemoSetup,
  type TimedChange,
} from "./demo-setup.ts";

const listensWithinMs = 30_000;
const runsWithinMs = 60_000;
const mirroredWithinMs = 30_000;
/** For an event that nobody received: the third attempt, in case the second one came too early. */
const retriedWithinMs = 75_000;

/** `serve` mirrors changes at once; after a kill and a restart also those in between. */
export async function serveWebhooks(demo: DemoSetup): Promise<boolean> {
  await demo.receive();
  await demo.run(["webhooks", "create", "--token-env", writeTokenVariable]);
  const secret = `${demoCompany}.webhook-secret`;
  const mode = (statSync(demo.inFolder(secret)).mode & 0o777).toString(8);
  await demo.print(`webhooks create: subscribed to every event; the secret is in ${secret}, mode ${mode}`);
  const since = demo.now();
  const serve = await startServe(demo);
  await demo.print(`serve listens on ${(JSON.parse(serve.stdout) as { readonly url: string }).url}`);
  const whole = await demo.waitUntil(() => runOutcome(demo, since) !== null, runsWithinMs);
  const outcome = runOutcome(demo, since) ?? "not finished";
  await demo.print(`nobody listened before, so it looks through every list once: ${outcome}`);
  const mirrored = await mirrorChanges(demo);
  serve.child.kill("SIGKILL");
  await serve.ended;
  await demo.print("serve is killed with SIGKILL; meanwhile");
  const late = await mirrorMissedChanges(demo);
  return whole && mirrored && late;
}

/** Resolves once `serve` has printed where it listens. */
async function startServe(demo: DemoSetup): Promise<DemoProcess> {
  const serve = demo.start(["serve"]);
  const isReady = () => serve.stdout.includes("\n") || serve.isOver;
  if ((await demo.waitUntil(isReady, listensWithinMs)) && !serve.isOver) return serve;
  throw failedCommand(["serve"], serve);
}

/** Outcome of the last run that ended since; null: none has. */
function runOutcome({ database }: DemoSetup, since: string): string | null {
  const ended = readDatabase(database, (db) => new Runs(db).lastEnded());
  return ended && ended.finishedAt >= since ? ended.outcome : null;
}

function isMirrored({ database }: DemoSetup, { table, id, since }: TimedChange): boolean {
  const sql = `SELECT 1 FROM ${table} WHERE id = ? AND _synced_at >= ?`;
  return queryRow(database, sql, id, since) !== undefined;
}

/** Makes one change after the other, each timed until its row is in the mirror. */
async function mirrorChanges(demo: DemoSetup): Promise<boolean> {
  const good: boolean[] = [];
  for (const change of demo.makeChanges()) {
    const isThere = await demo.waitUntil(() => isMirrored(demo, change), mirroredWithinMs);
    const when = isThere ? `in the mirror ${change.elapsedMs()} ms later` : "not in the mirror";
    await demo.print(`${change.sentence}: ${when}`);
    good.push(isThere);
  }
  return good.length > 0 && good.every(Boolean);
}

/** Makes changes while nobody listens; the service's retries bring them in after a restart. */
async function mirrorMissedChanges(demo: DemoSetup): Promise<boolean> {
  const failedBefore = demo.deliveries().failed;
  const made = [...demo.makeChanges()];
  for (const { sentence } of made) await demo.print(sentence);
  const failed = () => demo.deliveries().failed - failedBefore;
  const refused = await demo.waitUntil(() => failed() > 0 && !areAllDelivered(demo), mirroredWithinMs);
  const elapsedMs = demo.stopwatch();
  const serve = await startServe(demo);
  const up = formatDuration(elapsedMs());
  const isWhole = () => areAllDelivered(demo) && made.every((change) => isMirrored(demo, change));
  const isThere = await demo.waitUntil(isWhole, retriedWithinMs);
  const end = isThere
    ? `all of it is in the mirror after ${formatDuration(elapsedMs())}`
    : "not all of it came in";
  await demo.print(`the service has tried ${failed()} times in vain, and will try again`);
  await demo.print(`serve is started again and listens after ${up}; ${end}`);
  const kept = await compareInbox(demo);
  serve.child.kill("SIGTERM");
  const code = await serve.ended;
  await demo.print(`SIGTERM: serve finishes what it has begun and exits ${code ?? "by force"}`);
  return refused && isThere && kept && code === 0;
}

function areAllDelivered(demo: DemoSetup): boolean {
  const { events, delivered } = demo.deliveries();
  return delivered === events;
}

/** Compares the events sent with those that `serve` has stored: none is missing, none still waits. */
async function compareInbox(demo: DemoSetup): Promise<boolean> {
  const inInbox = (count: (view: InboxView) => number) =>
    readDatabase(demo.database, (db) => count(new InboxView(db)));
  // The last reads may still be under way when the expected rows are there.
  const isRead = () => inInbox((view) => view.waiting()) === 0;
  const allRead = await demo.waitUntil(isRead, mirroredWithinMs, 200);
  const stored = inInbox((view) => view.list({ most: 10_000 }).length);
  const { events, attempts } = demo.deliveries();
  await demo.print(`the service sent ${events} events in ${attempts} attempts; the inbox has ${stored}`);
  return allRead && stored === events;
}
