import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { mirrorFiles } from "../../../src/store/mirror-files.ts";
import { readManifest } from "../../../src/export/files/export-manifest.ts";
import { sendExports, unsentExports } from "../../../src/fleet/reports/send-exports.ts";
import { exportStep, readSteps, recordStep } from "../../../src/status/after-run-record.ts";
import { aShop, exportOf, filesIn } from "../../support/export/export.ts";
import { leaseOf } from "../../support/fleet/node.ts";
import { scopeIn } from "../../support/fleet/snapshot-facts.ts";
import { put } from "../../support/mirror/store.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { load, minimal } from "../../support/connector/config.ts";

const { signal } = new AbortController();
const surroundings = { clock: systemClock, env: {}, onSecrets: () => undefined, log: silentLog, signal };
const ownerIn = (epoch: number) => leaseOf({ company: "acme", epoch, node: `node-${epoch}` });

/** A node of a fleet whose company has these exports, and the same shop as others have. */
async function aNode(...entries: readonly object[]) {
  const mirror = await aShop();
  const { declaration } = mirror;
  const dataDir = tempFolder();
  const { exports } = load(minimal(`exports: ${JSON.stringify(entries)}\n`)).config;
  const scope = { ...scopeIn(dataDir), declaration };
  const config = { ...scope.config, exports };
  const company = { ...scope, config: { ...config, exports: unsentExports(config, "acme") } };
  const { afterRun, unsentExports: folder } = mirrorFiles(config, "acme");
  return {
    folder,
    /** Makes them, with one more person. */
    make: async (id: number) => {
      put(mirror, "people", { id, name: `person ${id}`, email: null, score: 1 });
      for (const entry of company.config.exports) {
        const { format, out, tables } = entry;
        const { manifest: made } = await exportOf(mirror, { format, out, tables: tables ?? [] });
        const result = { outcome: "written", error: null, seq: made.seq } as const;
        recordStep(afterRun, exportStep(entry, company.config), result, 0, 0);
      }
    },
    send: (owner = ownerIn(1)) => sendExports(company, owner, null, surroundings),
    steps: () => Object.entries(readSteps(afterRun)).map(([step, { outcome }]) => [step, outcome] as const),
  };
}

const csvTo = (out: string) => ({ format: "csv", out, after: "sync", tables: ["people"] });

describe("exports of a company in a fleet", () => {
  test("are sent to their places when they were made, beside those of others there", async () => {
    const [place, other] = [tempFolder(), tempFolder()];
    const first = await aNode({ ...csvTo(place), tables: ["orders"] });
    const second = await aNode(csvTo(place), { ...csvTo(other), format: "xlsx" });
    await first.make(7);
    expect(await first.send()).toBe(true);
    await second.make(8);
    expect(await second.send(ownerIn(2))).toBe(true);
    expect(filesIn(place)).toEqual(["acme/manifest.json", "acme/orders.csv", "acme/people.csv"]);
    expect(filesIn(other)).toEqual(["acme/manifest.json", "acme/people.xlsx"]);
    expect(readFileSync(path.join(place, "acme/people.csv"), "utf8")).toContain("person 8");
    const { files = [] } = (await readManifest(path.join(place, "acme/manifest.json"))) ?? {};
    expect(files.map(({ file }) => file)).toEqual(["orders.csv", "people.csv"]);
    expect(second.steps()).toEqual([
      [`csv ${place}`, "written"],
      [`xlsx ${other}`, "written"],
    ]);
    expect(second.folder).not.toSatisfy(existsSync);
  });

  // Fault: fleet | a node sends an export after another one has taken over its company | an ownership that has ended | no file of the new owner is replaced
  test("are sent by the owner alone", async () => {
    const place = tempFolder();
    const [late, next] = [await aNode(csvTo(place)), await aNode(csvTo(place))];
    const stale = ownerIn(1);
    await late.make(7);
    stale.end("it was not renewed in time");
    await next.make(8);
    await next.send(ownerIn(2));
    await late.send(stale);
    expect(readFileSync(path.join(place, "acme/people.csv"), "utf8")).toContain("person 8");
  });

  // Fault: fleet | a place of exports cannot be written | a file where its folder should be | this export has failed until it can be sent, and others are sent
  test("that cannot be sent have failed, and keep no others from their places", async () => {
    const [away, place] = [tempFolder(), tempFolder()];
    const node = await aNode(csvTo(away), csvTo(place));
    const obstacle = path.join(away, "acme");
    writeFileSync(obstacle, "");
    for (const outcome of ["failed", "written"]) {
      await node.make(outcome.length);
      expect(await node.send()).toBe(outcome === "written");
      expect(node.steps()).toEqual([
        [`csv ${away}`, outcome],
        [`csv ${place}`, "written"],
      ]);
      rmSync(obstacle, { recursive: true });
    }
  });
});
