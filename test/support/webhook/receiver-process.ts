/** A receiver as a process of its own: says its port, takes deliveries, and is there until it is killed. */
import { manifest } from "../../../connectors/fintoro/manifest.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { openMirror } from "../../../src/state/mirror.ts";
import { startServer } from "../../../src/server/server.ts";
import { CompanyIngest } from "../../../src/webhook/ingest/ingest.ts";
import { WorkQueue } from "../../../src/state/work-queue.ts";

const [, , file = "", secret = ""] = process.argv;
const mirror = await openMirror(file, manifest);
const selected = new Set(manifest.resources.map(({ name }) => name));
const queue = new WorkQueue(mirror.db);
const keyring = { accepted: () => [secret], refresh: () => false };
const ingest = new CompanyIngest({ mirror, queue, selected, keyring });
const companies = { find: () => ingest, countAnswer: () => undefined };
const log = silentLog;
const clock = systemClock;
const { port } = await startServer({ host: "127.0.0.1", port: 0, companies, clock, pages: {}, log });
console.log(port);
process.stdin.resume().on("end", () => process.exit(0));
