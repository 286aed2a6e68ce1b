import { describe, expect, test } from "vitest";
import { describeWithPostgres } from "../support/postgres/databases.ts";
import { scenarios } from "./points/all-scenarios.ts";
import { crashOnTheWay, pointsOf, withScenario, type CrashScenario } from "./points/crash-scenario.ts";

/**
 * A few points of each process, spread over it: `npm run crash` tries all of them.
 *
 * @param shares of the way from the first point to the last, 0 to 1
 */
function expectSound(name: string, shares: readonly number[]): Promise<void> {
  return withScenario(scenarios[name] as () => Promise<CrashScenario>, async (scenario) => {
    const { length } = await pointsOf(scenario);
    for (const share of shares) {
      const number = 1 + Math.floor(share * (length - 1));
      const { point, broken } = await crashOnTheWay(scenario, number, length);
      expect({ number, point, broken }).toEqual({ number, point: expect.any(String) as string, broken: [] });
    }
  });
}

describe("kill -9 at a point of the process, and another start: all is as without the kill", () => {
  // Fault: process | SIGKILL before or after a commit of a first sync | commits of mirror and budget | the next run repeats only what was in flight and ends equal to the service
  test("I1 I7: a first sync", () => expectSound("first-sync", [0.35, 0.8]));

  // Fault: process | SIGKILL before or after a commit of a sync that finds changes and deletions | commits of mirror and budget | change log and tombstones are true, and the next run ends equal to the service
  test("I1 I2 I5: a sync that finds changes", () => expectSound("sync", [0.6]));

  // Fault: process | kill -9 while deliveries arrive | serve, at a point of its process | everything that was answered 204 is in the file (I6)
  // Fault: webhook | SIGKILL of serve before or after a commit while deliveries come | commits of the inbox and of the event worker | what got 204 is kept, what did not is sent again, each event is kept once
  test("I6 I7 I11: deliveries to serve", () => expectSound("deliveries", [0.65]));

  // Fault: files | SIGKILL before a statement, fsync or rename of a publish | the report that is being written | the report is the old or the new one, whole; the next publish leaves no other file
  test("a publish", () => expectSound("publish", [0.5, 0.99]));

  // Fault: files | SIGKILL before a write, fsync, rename or removal of an export | the staged and the moved files | each file is the old or the new one, whole; the next export leaves no other file
  test("an export", () => expectSound("export-csv", [0.4, 0.66, 0.9]));

  // Fault: files | SIGKILL before a statement, fsync or rename of a backup | the new backup and the one it replaces | what has the name of a backup is whole; the next backup leaves nothing else
  test("a backup", () => expectSound("backup", [0.95]));

  // Fault: files | SIGKILL before a statement, fsync or rename of a restore | the mirror, staged and in its place | it is the earlier one or the backup, whole (I10); the next restore completes it
  test("a restore", () => expectSound("restore", [0.97]));

  // Fault: process | SIGKILL before a statement or commit of a prune | change log, runs and bodies of events | nothing but what is old is gone, the log still gives the live rows, and the next prune finishes it
  test("I2: a prune", () => expectSound("prune", [0.8]));
});

describeWithPostgres("kill -9 of a node of a fleet, and another start", () => {
  // Fault: fleet | SIGKILL of a node before or after it stores a snapshot, publishes it, or removes an older one | files of the store, statements and the commit of Postgres | the pointer names a whole snapshot, the change log goes as far, and the next snapshot leaves nothing else
  test("a snapshot is made", () => expectSound("snapshot-make", [0.25, 0.75, 0.9]));

  // Fault: fleet | SIGKILL of a node while it replaces its mirror by a snapshot | removal, fsync and rename in the node's folder | the mirror is the earlier one or the snapshot, whole; the next restore completes it
  test("a snapshot is restored", () => expectSound("snapshot-restore", [0.6, 1]));
});
