import { statSync } from "node:fs";
import path from "node:path";
import { formatDuration } from "../../base/units.ts";
import { watch } from "./queries.ts";
import { until, type DemoContext } from "./demo-steps.ts";
import { company, writeTokenVariable, type DemoSetup } from "./demo-setup.ts";
import { failed, type DemoProcess } from "./child-processes.ts";
import type { Narrate } from "./narration.ts";

const listensWithinMs = 30_000;
const runsWithinMs = 60_000;
const mirroredWithinMs = 30_000;
/** Of an event that met nobody: the third attempt, should the second have come too early. */
const retriedWithinMs = 75_000;

/** Changes as they happen, a kill, changes that nobody hears of, a restart. */
export async function behind(stage: DemoSetup, scene: DemoContext, tell: Narrate): Promise<boolean> {
  stage.receiveOn(await scene.freePort());
  await subscribe(stage, tell);
  const before = watch(stage.database);
  const first = await serve(stage, scene);
  await tell(`   serve listens on ${first.url}`);
  const whole = await until(scene, () => before.ranTo() !== null, runsWithinMs);
  await tell(
    `   nobody listened before, so it looks through every list once: ${before.ranTo() ?? "not finished"}`,
  );
  before.close();
  const heard = await seen(stage, scene, tell);
  first.player.child.kill("SIGKILL");
  await first.player.ended;
  await tell("   serve is killed with SIGKILL; meanwhile");
  const late = await missed(stage, scene, tell);
  return whole && heard && late;
}

async function subscribe(stage: DemoSetup, tell: Narrate): Promise<void> {
  await stage.run(["webhooks", "create", "--token-env", writeTokenVariable]);
  const mode = (statSync(stage.secret).mode & 0o777).toString(8);
  await tell(
    `   webhooks create: subscribed to every event; the secret is in ${path.basename(stage.secret)}, mode ${mode}`,
  );
}

interface Served {
  readonly player: DemoProcess;
  readonly url: string;
}

/** Once it says that it listens. */
async function serve(stage: DemoSetup, scene: DemoContext): Promise<Served> {
  const player = stage.start(["serve"]);
  const told = () => player.stdout().includes("\n") || player.isOver();
  if (!(await until(scene, told, listensWithinMs)) || player.isOver()) throw failed(["serve"], player);
  const { url } = JSON.parse(player.stdout()) as { readonly url: string };
  return { player, url };
}

/** One change after the other, each timed from its request to the service until it stands in the mirror. */
async function seen(stage: DemoSetup, scene: DemoContext, tell: Narrate): Promise<boolean> {
  return scene.changing(async (changes) => {
    let good = changes.length > 0;
    for (const change of changes) {
      const mirror = watch(stage.database);
      const startedMs = scene.nowMs();
      const { summary, table, id } = await change.make();
      const there = await until(scene, () => mirror.sees(table, id), mirroredWithinMs);
      const tookMs = Math.ceil(scene.nowMs() - startedMs);
      mirror.close();
      await tell(`   ${summary}: ${there ? `in the mirror ${tookMs} ms later` : "not in the mirror"}`);
      good &&= there;
    }
    return good;
  });
}

/** What happens while nobody listens, and how it comes in after all. */
async function missed(stage: DemoSetup, scene: DemoContext, tell: Narrate): Promise<boolean> {
  const mirror = watch(stage.database);
  const failedBefore = scene.sent().failed;
  const made = await scene.changing(async (changes) => {
    const done = [];
    for (const change of changes) done.push(await change.make());
    return done;
  });
  for (const { summary } of made) await tell(`   ${summary}`);
  const unheard = () => scene.sent().failed > failedBefore && !isDelivered(scene);
  const vain = await until(scene, unheard, mirroredWithinMs);
  const startedMs = scene.nowMs();
  const { player } = await serve(stage, scene);
  const upMs = scene.nowMs() - startedMs;
  const inMirror = () => isDelivered(scene) && made.every(({ table, id }) => mirror.sees(table, id));
  const there = await until(scene, inMirror, retriedWithinMs);
  const tookMs = scene.nowMs() - startedMs;
  mirror.close();
  await tell(
    `   the service has tried ${scene.sent().failed - failedBefore} times in vain, and will try again`,
  );
  await tell(
    `   serve is started again and listens after ${formatDuration(upMs)}; ` +
      (there ? `all of it is in the mirror after ${formatDuration(tookMs)}` : "not all of it came in"),
  );
  const kept = await fates(stage, scene, tell);
  player.child.kill("SIGTERM");
  const code = await player.ended;
  await tell(`   SIGTERM: serve finishes what it has begun and exits ${code ?? "by force"}`);
  return vain && there && kept && code === 0;
}

function isDelivered(scene: DemoContext): boolean {
  const { events, delivered } = scene.sent();
  return delivered === events;
}

interface Inbox {
  readonly deliveries: readonly { readonly state: string; readonly outcome: string | null }[];
}

/** What came of the events, as `webhooks inbox` shows them: none is missing, none is undecided. */
async function fates(stage: DemoSetup, scene: DemoContext, tell: Narrate): Promise<boolean> {
  const { deliveries } = await settledInbox(stage, scene);
  const counts = new Map<string, number>();
  for (const { state, outcome } of deliveries) {
    const fate = outcome ?? state;
    counts.set(fate, (counts.get(fate) ?? 0) + 1);
  }
  const { events, attempts } = scene.sent();
  const words = [...counts].map(([fate, count]) => `${count} ${fate}`).join(", ");
  await tell(`   the service sent ${events} events in ${attempts} attempts`);
  await tell(`   webhooks inbox shows ${deliveries.length}: ${words}`);
  return deliveries.length === events && deliveries.every(({ state }) => state !== "waiting");
}

/** The last reads may still be under way when the rows that were waited for are there. */
async function settledInbox(stage: DemoSetup, scene: DemoContext): Promise<Inbox> {
  const endMs = scene.nowMs() + mirroredWithinMs;
  for (;;) {
    const inbox = await stage.run<Inbox>(["webhooks", "inbox", "--company", company, "--limit", "10000"]);
    if (scene.nowMs() > endMs || inbox.deliveries.every(({ state }) => state !== "waiting")) return inbox;
    await scene.wait(200);
  }
}
