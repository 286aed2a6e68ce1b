import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import type { SecretSource } from "../../../src/config/secrets.ts";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import type { NumberedDelivery } from "../../../src/fleet/postgres/tables/inbox-table.ts";
import { FleetCompanies } from "../../../src/fleet/receiver/fleet-companies.ts";
import { signedForm } from "../../../src/webhook/ingest/delivery.ts";
import { stubLog } from "../http/http-client.ts";
import { openFleet, type Fleet } from "./fleet.ts";
import { tempFolder } from "../temporary-folder.ts";
import { aServer, post, secret, type Post } from "../webhook/webhook.ts";

type FleetParts = ConstructorParameters<typeof FleetCompanies>[0];

/** What `fleet add` writes for a company: its secret is `${env:ACME_SECRET}` unless others are named. */
export function documentOf(company: string, secrets = [`\${env:${company.toUpperCase()}_SECRET}`]) {
  return { companies: { [company]: { token: "${env:TOKEN}", webhook: { secrets } } } };
}

export async function fleetOf(...companies: string[]): Promise<Fleet> {
  const fleet = await openFleet();
  for (const company of companies) await fleet.companies.put(company, documentOf(company));
  return fleet;
}

export function inboxOf(fleet: Fleet, company: string): Promise<NumberedDelivery[]> {
  return fleet.inbox.read(company, 0, 10_000);
}

type FleetReceiverOptions = Partial<
  Pick<SecretSource, "env"> & Pick<FleetParts, "clock" | "sendJob" | "formOf">
>;

/**
 * A node that receives, on loopback, over this connection. It ends with the test.
 *
 * @param isRead has it read the companies?
 */
export async function aFleetReceiver(postgres: Postgres, options: FleetReceiverOptions = {}, isRead = true) {
  const { env = { ACME_SECRET: secret }, clock = systemClock, ...parts } = options;
  const closing = new AbortController();
  const log = stubLog();
  const folder = tempFolder();
  const companies = new FleetCompanies({
    postgres,
    sendJob: () => Promise.resolve(),
    formOf: () => Promise.resolve(signedForm),
    secrets: { env, folder, readFile: (file) => readFileSync(file, "utf8") },
    retiredKeys: (company) => `${folder}/${company}.secrets.json`,
    onSecrets: () => undefined,
    clock,
    log,
    closed: closing.signal,
    ...parts,
  });
  if (isRead) await companies.refresh();
  const { url } = await aServer({ companies, clock, log });
  onTestFinished(() => closing.abort());
  const deliver = (company: string, { headers, body }: Post = post()) =>
    fetch(`${url}/webhooks/${company}`, { method: "POST", headers, body: Buffer.from(body) });
  return { companies, lines: log.lines, deliver };
}
