import { statSync } from "node:fs";
import path from "node:path";
import { formatDuration } from "../../base/units.ts";
import { failedCommand, type DemoProcess } from "./demo-processes.ts";
import { demoCompany, writeTokenVariable, type DemoSetup } from "./demo-setup.ts";
import { MirrorWatch } from "./mirror-reader.ts";

const listensWithinMs = 30_000;
const runsWithinMs = 60_000;
const mirroredWithinMs = 30_000;
/** For an event that nobody received: the third attempt, in case the second one came too early. */
const retriedWithinMs = 75_000;

/** `serve` mirrors changes at once; after a kill and a restart also those in between. */
export async function serveWebhooks(demo: DemoSetup): Promise<boolean> {
  await demo.receive();
  await subscribe(demo);
  const watch = new MirrorWatch(demo.database);
  const first = await startServe(demo);
  await demo.print(`   serve listens on ${first.url}`);
  const whole = await demo.waitUntil(() => watch.runOutcome() !== null, runsWithinMs);
  await demo.print(
    `   nobody listened before, so it looks through every list once: ${watch.runOutcome() ?? "not finished"}`,
  );
  watch.close();
  const mirrored = await mirrorChanges(demo);
  first.child.kill("SIGKILL");
  await first.ended;
  await demo.print("   serve is killed with SIGKILL; meanwhile");
  const late = await mirrorMissedChanges(demo);
  return whole && mirrored && late;
}

async function subscribe(demo: DemoSetup): Promise<void> {
  await demo.processes.run(["webhooks", "create", "--token-env", writeTokenVariable]);
  const mode = (statSync(demo.secret).mode & 0o777).toString(8);
  await demo.print(
    `   webhooks create: subscribed to every event; the secret is in ${path.basename(demo.secret)}, mode ${mode}`,
  );
}

/** Resolves once `serve` has printed where it listens. */
async function startServe(
  demo: DemoSetup,
): Promise<Pick<DemoProcess, "child" | "ended"> & { readonly url: string }> {
  const serve = demo.processes.start(["serve"]);
  const isReady = () => serve.stdout.includes("\n") || serve.isOver;
  if (!(await demo.waitUntil(isReady, listensWithinMs)) || serve.isOver)
    throw failedCommand(["serve"], serve);
  const { url } = JSON.parse(serve.stdout) as { readonly url: string };
  return { child: serve.child, ended: serve.ended, url };
}

/** Makes one change after the other, each timed from its request until its row is in the mirror. */
async function mirrorChanges(demo: DemoSetup): Promise<boolean> {
  const changes = demo.changes();
  let good = changes.length > 0;
  for (const change of changes) {
    const watch = new MirrorWatch(demo.database);
    const startedMs = demo.nowMs();
    const { sentence, table, id } = change.make();
    const isThere = await demo.waitUntil(() => watch.hasChanged(table, id), mirroredWithinMs);
    const tookMs = Math.ceil(demo.nowMs() - startedMs);
    watch.close();
    await demo.print(`   ${sentence}: ${isThere ? `in the mirror ${tookMs} ms later` : "not in the mirror"}`);
    good &&= isThere;
  }
  return good;
}

/** Makes changes while nobody listens; the service's retries bring them in after a restart. */
async function mirrorMissedChanges(demo: DemoSetup): Promise<boolean> {
  const watch = new MirrorWatch(demo.database);
  const failedBefore = demo.deliveries().failed;
  const made = demo.changes().map((change) => change.make());
  for (const { sentence } of made) await demo.print(`   ${sentence}`);
  const isRefused = () => demo.deliveries().failed > failedBefore && !areAllDelivered(demo);
  const refused = await demo.waitUntil(isRefused, mirroredWithinMs);
  const startedMs = demo.nowMs();
  const serve = await startServe(demo);
  const upMs = demo.nowMs() - startedMs;
  const isMirrored = () =>
    areAllDelivered(demo) && made.every(({ table, id }) => watch.hasChanged(table, id));
  const isThere = await demo.waitUntil(isMirrored, retriedWithinMs);
  const tookMs = demo.nowMs() - startedMs;
  watch.close();
  await demo.print(
    `   the service has tried ${demo.deliveries().failed - failedBefore} times in vain, and will try again`,
  );
  await demo.print(
    `   serve is started again and listens after ${formatDuration(upMs)}; ` +
      (isThere ? `all of it is in the mirror after ${formatDuration(tookMs)}` : "not all of it came in"),
  );
  const kept = await compareInbox(demo);
  serve.child.kill("SIGTERM");
  const code = await serve.ended;
  await demo.print(`   SIGTERM: serve finishes what it has begun and exits ${code ?? "by force"}`);
  return refused && isThere && kept && code === 0;
}

function areAllDelivered(demo: DemoSetup): boolean {
  const { events, delivered } = demo.deliveries();
  return delivered === events;
}

interface InboxOutput {
  readonly deliveries: readonly { readonly state: string; readonly outcome: string | null }[];
}

/** Compares the events sent with `webhooks inbox`: none is missing, none still waits. */
async function compareInbox(demo: DemoSetup): Promise<boolean> {
  const { deliveries } = await finishedInbox(demo);
  const groups = Map.groupBy(deliveries, ({ state, outcome }) => outcome ?? state);
  const words = [...groups].map(([outcome, { length }]) => `${length} ${outcome}`).join(", ");
  const { events, attempts } = demo.deliveries();
  await demo.print(`   the service sent ${events} events in ${attempts} attempts`);
  await demo.print(`   webhooks inbox shows ${deliveries.length}: ${words}`);
  return deliveries.length === events && deliveries.every(({ state }) => state !== "waiting");
}

/** The last reads may still be under way when the expected rows are there. */
async function finishedInbox(demo: DemoSetup): Promise<InboxOutput> {
  const endMs = demo.nowMs() + mirroredWithinMs;
  const args = ["webhooks", "inbox", "--company", demoCompany, "--limit", "10000"];
  for (;;) {
    const inbox = await demo.processes.run<InboxOutput>(args);
    if (demo.nowMs() > endMs || inbox.deliveries.every(({ state }) => state !== "waiting")) return inbox;
    await demo.sleep(200);
  }
}
