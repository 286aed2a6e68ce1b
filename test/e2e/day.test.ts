import { expect, onTestFinished, test } from "vitest";
import { aCompany, type Company } from "../support/company/company.ts";
import { count, expectEqual, expectReplayable, expectTombstonesTrue, look } from "../support/truth/equal.ts";
import { tableDifferences } from "../support/truth/compare.ts";
import {
  endServe,
  portToKeep,
  startProcess,
  startServe,
  writeEventsConfig,
  type Process,
} from "../support/program/serve-process.ts";
import { truthOf } from "../support/truth/truth.ts";

const secret = "whsec_of_the_day_0123456789";

/**
 * What no event and no cheap read brings, and the nightly run does. Their JSON only: these repeat a whole record of
 * another table (a case its client, a receipt its warehouse with its counters, a payment its receipt), of which the
 * row holds the id; reading each of them again whenever that other record changes would cost a request apiece. And
 * when a subscription last delivered: that changes with each delivery, and reading it then would double them all.
 */
const nightly: Readonly<Record<string, RegExp>> = {
  business_cases: /^_raw differs$/,
  warehouse_inbound_receipts: /^_raw differs$/,
  warehouse_outbound_receipts: /^_raw differs$/,
  proformas: /^_raw differs$/,
  document_payments: /^_raw differs$/,
  webhook_subscriptions: /^(_raw differs|last_(success|failure)_at is .*)$/,
};

function unequalNow({ sandbox, file }: Company): string[] {
  const truth = truthOf(sandbox);
  return look(file, (db) =>
    [...truth].flatMap(([table, records]) =>
      tableDifferences(db, table, records).filter((one) => {
        const what = one.slice(one.indexOf(": ") + 2);
        return !(one.startsWith(`${table} `) && nightly[table]?.test(what));
      }),
    ),
  );
}

/** As soon as all deliveries are there; the machine may be busy, so not to the second. */
async function equalWithinSeconds(company: Company): Promise<void> {
  await company.sandbox.control.webhooks.idle(30_000, { withinMs: Infinity });
  await expect.poll(() => unequalNow(company)).toEqual([]);
}

async function aServedCompany(): Promise<{ company: Company; start: () => Promise<Process> }> {
  const port = await portToKeep();
  const webhooks = [{ url: `http://127.0.0.1:${port}/webhooks/acme`, secret }];
  const company = await aCompany({ records: 40, webhooks, retryScale: 0.0006, latencyMs: [0, 30] });
  const { folder, proxy, sandbox } = company;
  writeEventsConfig({ folder, baseUrl: proxy.baseUrl, token: sandbox.token, secret });
  const start = async () => {
    const daemon = await startServe(folder, port);
    onTestFinished(() => void daemon.child.kill("SIGKILL"));
    return daemon;
  };
  return { company, start };
}

test("serve beside a service that lives a day in six seconds stays equal to it within seconds, killed once, without a run", async () => {
  const { company, start } = await aServedCompany();
  const first = await start();
  const runs = "SELECT count(*) FROM _runs WHERE outcome = 'complete'";
  await expect.poll(() => count(company.file, runs)).toBe(1);
  const live = (seed: number) => company.sandbox.control.day({ changes: 60, durationMs: 2_000, seed });
  expect(await live(1).done).toMatchObject({ changes: 60, problem: null });
  await equalWithinSeconds(company);

  const afternoon = live(2);
  await expect.poll(() => afternoon.report().changes).toBeGreaterThan(30);
  await endServe(first, "SIGKILL");
  const second = await start();
  await afternoon.done;
  await equalWithinSeconds(company);

  await live(3).done;
  await equalWithinSeconds(company);
  expect(count(company.file, "SELECT count(*) FROM _runs")).toBe(1);
  expect(count(company.file, "SELECT count(*) FROM _inbox WHERE state <> 'done'")).toBe(0);
  expectTombstonesTrue(company);
  expectReplayable(company);

  const night = startProcess(company.folder, ["sync", "--full", "--json"]);
  expect(await night.ended).toMatchObject({ code: 0 });
  expectEqual(company);
  expect(await endServe(second, "SIGTERM")).toMatchObject({ code: 0 });
});
