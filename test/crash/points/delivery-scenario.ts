import path from "node:path";
import type { SentEvent } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { endOf } from "../../support/program/cli.ts";
import { look } from "../../support/truth/compare.ts";
import { openCompany, sync, type Company } from "../../support/company/open-company.ts";
import { eventually } from "../../support/eventually.ts";
import { memoryScratch } from "../../support/memory-folder.ts";
import { writeServeConfig } from "../../support/program/serve.ts";
import { portToKeep, startServe } from "../../support/program/serve-process.ts";
import { deliver, eventOf } from "../../support/program/deliveries.ts";
import { truthOf } from "../../support/truth/truth.ts";
import { startToDie, type Attempt, type CrashScenario } from "./crash-scenario.ts";
import { companyIn, inconsistencies, inequalities } from "./sync-scenario.ts";

/** Changes, creates and deletes a supplier; gives the events that say so. */
function changeSuppliers({ sandbox }: Company): SentEvent[] {
  const { control } = sandbox;
  const [first, second] = [...(truthOf(sandbox).get("suppliers")?.keys() ?? [])].map(Number);
  if (first === undefined || second === undefined) throw new Error("the sandbox has too few suppliers");
  control.alter("suppliers", first, { name: "changed" });
  const created = Number(control.create("suppliers", { name: "new" })["id"]);
  control.remove("suppliers", second);
  const events = { updated: first, created, deleted: second };
  return Object.entries(events).map(([what, id]) => eventOf(`suppliers.${what}`, id));
}

/** The service as a sender: what is not answered with 204 is sent again, with the time of sending. */
function senderOf(events: readonly SentEvent[]) {
  const accepted = new Set<string>();
  const left = () => events.filter(({ id }) => !accepted.has(id));
  const sendAll = (port: number, isOver: () => boolean) =>
    eventually(async () => {
      for (const event of isOver() ? [] : left()) {
        const status = await deliver({ url: `http://127.0.0.1:${port}` }, event).catch(() => null);
        if (status === 204) accepted.add(event.id);
      }
      return isOver() || left().length === 0;
    }, "all deliveries accepted");
  return { accepted, sendAll };
}

function storedIn({ folder }: Attempt, where = "1"): string[] {
  const sql = `SELECT event_id FROM _inbox WHERE ${where} ORDER BY event_id`;
  return look(path.join(folder, "acme.db"), (db) => db.prepare(sql).pluck().all() as string[]);
}

function untilRead(attempt: Attempt, isOver: () => boolean): Promise<void> {
  return eventually(() => isOver() || storedIn(attempt, "state = 'waiting'").length === 0, "all read");
}

/** Deliveries to `serve`, the real program; it is killed, started again, and gets the rest of them. */
export async function deliveryScenario(): Promise<CrashScenario> {
  const company = await openCompany({ records: 2 });
  const base = memoryScratch().path;
  await sync(companyIn(company, base));
  const events = changeSuppliers(company);
  const senders = new Map<string, ReturnType<typeof senderOf>>();
  const senderTo = ({ folder }: Attempt) => {
    const sender = senders.get(folder) ?? senderOf(events);
    senders.set(folder, sender);
    return sender;
  };
  return {
    countsStatements: false,
    isAnswering: true,
    base,
    run: async (attempt) => {
      const here = companyIn(company, attempt.folder);
      writeServeConfig(here);
      const port = await portToKeep();
      const child = startToDie(attempt, ["serve", "--json", "--listen", `127.0.0.1:${port}`]);
      let isOver = false;
      const ended = endOf(child).finally(() => (isOver = true));
      await senderTo(attempt).sendAll(port, () => isOver);
      await untilRead(attempt, () => isOver);
      child.kill("SIGTERM");
      return ended;
    },
    afterCrash: async (attempt) => {
      const kept = new Set(storedIn(attempt));
      const lost = [...senderTo(attempt).accepted].filter((id) => !kept.has(id));
      const broken = await inconsistencies(companyIn(company, attempt.folder));
      return [...lost.map((id) => `I6 answered with 204 and not kept: ${id}`), ...broken];
    },
    finish: async (attempt) => {
      const port = await portToKeep();
      const daemon = await startServe(attempt.folder, port);
      await senderTo(attempt).sendAll(port, () => false);
      await untilRead(attempt, () => false);
      daemon.child.kill("SIGTERM");
      const { code } = await daemon.ended;
      const here = companyIn(company, attempt.folder);
      const stored = storedIn(attempt).join();
      const sent = events.map(({ id }) => id).toSorted(byText);
      const wrong = [
        ...(code === 0 ? [] : [`serve ended with ${code}: ${daemon.stderr()}`]),
        ...(stored === sent.join() ? [] : [`I7 kept: ${stored}`]),
        ...inequalities(here, ["suppliers"]),
      ];
      await sync(here);
      return [...wrong, ...inequalities(here), ...(await inconsistencies(here))];
    },
    close: () => company.close(),
  };
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
