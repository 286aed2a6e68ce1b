import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { reportName } from "../../../src/fleet/reports/publish-reports.ts";
import { isRefusedByRules } from "../../../connectors/fintoro/sandbox/rules/rules.ts";
import type { Random } from "../../../src/base/random.ts";
import { aWorkedFleet, startWorker, type FleetWorker, type WorkedFleet } from "../../support/fleet/worker.ts";
import { judgeWrites, takeoversS, wrongWrites } from "../../support/fleet/write-judge.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { describeWithPostgres, ownServer } from "../../support/postgres/databases.ts";
import type { PostgresServer } from "../../support/postgres/server.ts";
import { deliver } from "../../support/program/deliveries.ts";
import { inMirror } from "../../support/company/served-company.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { differences, look } from "../../support/truth/compare.ts";
import { truthOf } from "../../support/truth/truth.ts";
import { eventually } from "../../support/eventually.ts";

/** `UNDER_FIRE_SEEDS=20` looks at more orders of what is done to whom. */
const seeds = Array.from({ length: Number(process.env["UNDER_FIRE_SEEDS"] ?? 1) }, (_, n) => n + 1);

const names = ["acme", "beta", "gamma"];
const changedTables = ["clients", "invoices", "orders"];
const changes = ["clients.created", "clients.updated", "invoices.created", "invoices.updated"];
const deletions = ["orders.created", "orders.deleted"];
const newestSql = "SELECT max(seq) FROM _change_log";

const pick = <T>(random: Random, all: readonly T[]) => all[Math.floor(random.next() * all.length)] as T;

/** Two workers that share three companies, of which neither can hold all; the service refuses who asks too much. */
class Fire {
  readonly fleet: WorkedFleet;
  readonly random: Random;
  readonly server: PostgresServer;
  readonly reports = tempFolder();
  readonly workers = new Map<string, FleetWorker>();
  /** Ids of the deliveries that were answered with 204, by company. */
  readonly accepted = new Map<string, string[]>(names.map((name) => [name, []]));
  refused = 0;
  readonly #deliveries: Promise<void>[] = [];
  #isOver = false;

  constructor(fleet: WorkedFleet, server: PostgresServer, random: Random) {
    this.fleet = fleet;
    this.server = server;
    this.random = random;
    fleet.company.proxy.obstruct(async (_, passOn) => {
      const reply = await passOn();
      if (reply.status === 429) this.refused++;
      return reply;
    });
    onTestFinished(() => void (this.#isOver = true));
  }

  async start(node: string): Promise<void> {
    this.workers.set(node, await startWorker(this.fleet, node, { reports: this.reports, capacity: 2 }));
  }

  worker(node: string): FleetWorker {
    const worker = this.workers.get(node);
    if (!worker) throw new Error(`there is no worker ${node}`);
    return worker;
  }

  /** Changes records until the function that it gives is called, which waits for all deliveries. */
  change(): () => Promise<void> {
    const { control } = this.fleet.company.sandbox;
    const stop = new AbortController();
    const work = async () => {
      while (!stop.signal.aborted && !this.#isOver) {
        const company = Math.floor(this.random.next() * names.length);
        const spare = control.events().filter(({ type }) => type.startsWith("orders."));
        const type = pick(this.random, [...changes, deletions[spare.length % 2] ?? ""]);
        try {
          for (const event of control.trigger(type, null, { company }).events)
            this.#deliveries.push(this.#deliver(event, company));
        } catch (error) {
          if (!isRefusedByRules(error)) throw error;
        }
        await pause(500);
      }
    };
    const done = work();
    return async () => {
      stop.abort();
      await done;
      await Promise.all(this.#deliveries);
    };
  }

  /** As the service does, sooner: to either receiver until one accepts it. */
  async #deliver(event: Parameters<typeof deliver>[1], company: number): Promise<void> {
    const to = names[company] ?? "";
    while (!this.#isOver) {
      const worker = pick(this.random, [...this.workers.values()]);
      const status = await deliver(worker, event, { to }).catch(() => 0);
      if (status === 204) return void this.accepted.get(to)?.push(event.id);
      await pause(100);
    }
  }

  /** Does this to the node that has most, and to Postgres meanwhile, until another one has something of it. */
  async disturb(what: "kill" | "stop"): Promise<void> {
    const before = (await takeoversS(this.fleet.postgres)).length;
    const isTakenOver = async () => (await takeoversS(this.fleet.postgres)).length > before;
    await eventually(async () => !(await this.owners()).includes(null), "owners of all");
    const owners = await this.owners();
    const node = owners.filter((one) => one === "one").length > 1 ? "one" : "two";
    if (what === "kill") {
      await this.worker(node).end("SIGKILL");
      await Promise.all([this.start(node), this.restartPostgres()]);
    } else {
      this.worker(node).child.kill("SIGSTOP");
      await this.restartPostgres();
    }
    await eventually(isTakenOver, `a takeover after a ${what}`);
    if (what === "stop") this.worker(node).child.kill("SIGCONT");
  }

  private owners(): Promise<(string | null)[]> {
    return Promise.all(names.map((name) => this.fleet.ownerOf(name)));
  }

  private async restartPostgres(): Promise<void> {
    await (this.random.next() < 0.5 ? this.server.stop() : this.server.crash());
    await this.server.start();
  }

  /** Nothing is to be done any more: every snapshot is as the service has it, and its report shows its last change. */
  async rest(): Promise<void> {
    const { company, tables } = this.fleet;
    for (const [index, name] of names.entries()) {
      let left: readonly string[] = ["no snapshot"];
      const isPublished = async () => {
        const snapshot = await tables.snapshots.current(name);
        const here = { ...company, file: path.join(company.folder, snapshot?.node ?? "", `data/${name}.db`) };
        left = look(here.file, (db) => differences(db, truthOf(company.sandbox, index), changedTables));
        const report = (await tables.reports.current(name))?.files.find((file) => file.name === reportName);
        const seqs = [inMirror(here, newestSql), report?.seq];
        return left.length === 0 && seqs.every((seq) => seq === snapshot?.seq);
      };
      await eventually(isPublished, () => `${name} as the service has it: ${left.slice(0, 3).join("; ")}`);
    }
  }
}

describeWithPostgres("a fleet under fire", () => {
  // Fault: process | a worker killed, another one stopped for longer than its lease, Postgres killed, while companies change | two processes of `worker`, and Postgres | no epoch has two writers, no delivery is lost, no answer is 429, takeovers within 30 s, snapshots equal the service, published reports show their last change
  // Fault: process | kill -9 of one of two receivers under load | two processes of `worker` | everything that was answered 204 is in the inbox once (I6, I7)
  // Fault: fleet | the owner is killed after its report was published, and a delivery comes | process `worker` by SIGKILL | the next owner publishes the report again with the change
  test.each(seeds)(
    "breaks nothing, and leaves every company as the service has it: seed %i",
    async (seed) => {
      const server = await ownServer();
      const options = { seed, records: 4, companies: names.length, limit: 30, windowMs: 4_000 };
      const fleet = await aWorkedFleet(options, await server.createDatabase());
      const fire = new Fire(fleet, server, seededRandom(seed));
      await judgeWrites(fleet.postgres);
      for (const [index, name] of names.entries())
        await fleet.add(name, { rate_limit: { window: "4s" }, schedule: { publish_every: "5s" } }, index);
      await Promise.all(["one", "two"].map((node) => fire.start(node)));
      const stopChanging = fire.change();
      const steps = fire.random.next() < 0.5 ? (["kill", "stop"] as const) : (["stop", "kill"] as const);
      await fire.disturb(steps[0]);
      await fire.disturb(steps[1]);
      await stopChanging();
      await fire.rest();
      expect(await wrongWrites(fleet.postgres)).toEqual([]);
      expect(Math.max(...(await takeoversS(fleet.postgres)))).toBeLessThan(30);
      expect(fire.refused).toBe(0);
      for (const [name, ids] of fire.accepted) {
        const kept = await Promise.all(ids.map((id) => fleet.tables.inbox.has(name, id)));
        expect(ids.filter((_, i) => !kept[i])).toEqual([]);
        expect(ids.length).toBeGreaterThan(0);
      }
      for (const worker of fire.workers.values()) {
        const { code, stderr } = await worker.end("SIGTERM");
        // A lease that was lost is no lock of another process.
        expect([code, stderr.includes("lock file")]).toEqual([0, false]);
      }
      const holes = `SELECT company FROM fintoro_mirror.changes GROUP BY company, log
      HAVING count(*) <> max(seq) - min(seq) + 1`;
      expect(await fleet.postgres.query(holes)).toEqual([]);
    },
  );
});
