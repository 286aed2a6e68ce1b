/** A receiver as a process of its own: says its port, takes deliveries, and is there until it is killed. */
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/logger.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { startServer } from "../../src/webhook/server/server.ts";
import { createIngest } from "../../src/webhook/ingest/ingest.ts";
import { createReceiver } from "../../src/webhook/server/receiver.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";

const [, , file = "", secret = ""] = process.argv;
const mirror = await openMirror(file, manifest);
const selected = new Set(manifest.resources.map(({ name }) => name));
const queue = new WorkQueue(mirror.db);
const mailbox = createIngest({ mirror, queue, selected, secrets: () => [secret], clock: systemClock });
const nothing = () => undefined;
const receiver = createReceiver({
  mailbox: () => mailbox,
  clock: systemClock,
  log: silentLog,
  onResult: nothing,
  onStored: nothing,
});
const { port } = await startServer({ host: "127.0.0.1", port: 0, receiver, pages: {}, log: silentLog });
console.log(port);
process.stdin.resume().on("end", () => process.exit(0));
