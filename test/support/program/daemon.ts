import { readFileSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { seededRandom } from "../seeded-random.ts";
import type { Config } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { Daemon } from "../../../src/host/daemon.ts";
import { openDatabase } from "../../../src/store/database.ts";
import type { Company } from "../company/company.ts";
import { loggingTo } from "../company/open-company.ts";
import { writeServeConfig, type ServedCompany } from "./serve.ts";

/** The shortest deadlines that a test must not meet early: of a request, and of a stop. */
const shortestDeadlineMs = 19_000;

/** Real time, but nobody waits longer than a moment for another try. Deadlines stay: a busy machine would miss short ones. */
export const impatientClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms < shortestDeadlineMs ? Math.min(ms, 100) : ms, signal),
};

export function configOf(company: Company, more = "", companies?: readonly ServedCompany[]): Config {
  writeServeConfig(company, `schedule: { sync: off, publish: off }\n${more}`, companies);
  const { config } = loadConfig({
    path: path.join(company.folder, "config.yaml"),
    cwd: company.folder,
    env: {},
    readFile: (file) => readFileSync(file, "utf8"),
    connectors: [declaration],
  });
  return config;
}

type DaemonOptions = ConstructorParameters<typeof Daemon>[0];

/** A daemon in this process, without its receiver; stopped with the test. */
export function startDaemon(company: Company, config: Config, parts: Partial<DaemonOptions> = {}): Daemon {
  const options: DaemonOptions = {
    declaration,
    env: {},
    clock: systemClock,
    random: seededRandom(4),
    log: loggingTo(company.said),
    version: "test",
    afterRun: () => Promise.resolve(null),
    onSecrets: () => undefined,
    connections: { dropped: 0 },
    ...parts,
  };
  const daemon = new Daemon(options, config);
  daemon.start();
  onTestFinished(() => daemon.stop());
  return daemon;
}

/** Puts all that the mirror remembers of runs and receiving so much further into the past. */
export function age(company: Company, byMs: number): void {
  using db = openDatabase(company.file);
  db.prepare("UPDATE _receiver SET started_ms = started_ms - ?, seen_ms = seen_ms - ?").run(byMs, byMs);
  const earlier = "strftime('%Y-%m-%dT%H:%M:%fZ', started_at, ? || ' seconds')";
  const sql = `UPDATE _runs SET started_at = ${earlier}, report = json_set(report, '$.swept', json('{}'))`;
  db.prepare(sql).run(-byMs / 1_000);
}
