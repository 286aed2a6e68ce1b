import { expect, test } from "vitest";
import { formatFleetStatus } from "../../../src/fleet/status/format-fleet-status.ts";
import { fleetStatusOutcome, readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import { eventually } from "../../support/eventually.ts";
import { startNode } from "../../support/fleet/short-node.ts";
import { aWorkedFleet } from "../../support/fleet/worker.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { odd } from "../../support/sandbox/odd-answers.ts";

describeWithPostgres("the status of a fleet", () => {
  // Fault: fleet | a subscription lacks events; the service begins to send a field | the sandbox, before a run of a node | `fleet status` names both, and keeps exit 0
  test("names a subscription that drifts, and a field that is new", async () => {
    const fleet = await aWorkedFleet({ records: 1 });
    const input = { url: "https://hooks.example.com/webhooks/acme", isActive: true };
    const subscribed = { name: "ours", ...input, subscribedEvents: ["invoices.created"] };
    fleet.company.sandbox.control.create("webhook_subscriptions", subscribed);
    fleet.company.suffer({ ...odd("unknown_fields"), match: { path: "/suppliers" } });
    await fleet.add("acme");
    await startNode(fleet, "one");
    let status = await readFleetStatus(fleet.postgres, null);
    await eventually(async () => {
      status = await readFleetStatus(fleet.postgres, null);
      return (status.companies["acme"]?.whole_at ?? null) !== null;
    }, "a whole run");
    expect(status.companies["acme"]?.problems).toMatchObject([
      { kind: "subscription", severity: "notice" },
      { kind: "schema", severity: "notice" },
    ]);
    const text = formatFleetStatus(status).join("\n");
    expect(text).toMatch(/\n! acme: subscription \d+ lacks \d+ of .*suppliers\.brand_new_field/);
    expect(fleetStatusOutcome({ ...status, problems: [] })).toBe("complete");
  });
});
