import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { FleetCompanies } from "../../../src/fleet/receiver/fleet-companies.ts";
import { signedForm } from "../../../src/webhook/ingest/delivery.ts";

export type FleetParts = ConstructorParameters<typeof FleetCompanies>[0];

/** The companies of a fleet as a receiver knows them, without files of secrets and without jobs unless they are given. */
export function fleetCompanies({ postgres, ...more }: Pick<FleetParts, "postgres"> & Partial<FleetParts>) {
  return new FleetCompanies({
    postgres,
    sendJob: () => Promise.resolve(),
    formOf: () => Promise.resolve(signedForm),
    secrets: { env: process.env, folder: "/", readFile: () => "" },
    retiredKeys: (company) => `/nonexistent/${company}.secrets.json`,
    onSecrets: () => undefined,
    clock: systemClock,
    log: silentLog,
    closed: new AbortController().signal,
    ...more,
  });
}
