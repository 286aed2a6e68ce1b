/** A receiver as a process of its own: says its port, takes deliveries, and is there until it is killed. */
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/logger.ts";
import { openMirror } from "../../src/store/apply/mirror.ts";
import { listen } from "../../src/webhook/server/server.ts";
import { createMailbox } from "../../src/webhook/ingest/ingest.ts";
import { createReceiver } from "../../src/webhook/server/receiver.ts";
import { Queue } from "../../src/state/work-queue.ts";

const [, , file = "", secret = ""] = process.argv;
const mirror = await openMirror(file, manifest);
const selected = new Set(manifest.resources.map(({ name }) => name));
const queue = new Queue(mirror.db);
const mailbox = createMailbox({ mirror, queue, selected, secrets: () => [secret], clock: systemClock });
const nothing = () => undefined;
const receiver = createReceiver({
  mailbox: () => mailbox,
  clock: systemClock,
  log: silentLog,
  onResult: nothing,
  onStored: nothing,
});
const { port } = await listen({ host: "127.0.0.1", port: 0, receiver, pages: {}, log: silentLog });
console.log(port);
process.stdin.resume().on("end", () => process.exit(0));
