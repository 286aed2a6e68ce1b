/** A receiver of a fleet as a process of its own: prints its port, and is there until it is killed. */
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { openPostgres, type Postgres } from "../../../src/fleet/postgres/connection.ts";
import { startServer } from "../../../src/server/server.ts";
import { fleetCompanies } from "./companies.ts";

const [, , url = "", when = ""] = process.argv;

/** Kills this process as soon as the first delivery is committed, before it is answered. */
function dyingAfterCommit(real: Postgres): Postgres {
  return {
    query: (text, values) => real.query(text, values),
    close: () => real.close(),
    transaction: async (step) => {
      const result = await real.transaction(step);
      process.kill(process.pid, "SIGKILL");
      return result;
    },
  };
}

const clock = systemClock;
const log = silentLog;
const node = `receiver-${process.pid}`;
const opened = await openPostgres({ url, node, log });
const companies = fleetCompanies({
  postgres: when === "dies-after-commit" ? dyingAfterCommit(opened) : opened,
});
await companies.refresh();
const { port } = await startServer({ host: "127.0.0.1", port: 0, companies, clock, pages: {}, log });
console.log(port);
process.stdin.resume().on("end", () => process.exit(0));
