import { rmSync } from "node:fs";
import { writeFileAtomically } from "../../base/files/atomic-file.ts";
import { messageOf } from "../../base/errors.ts";
import type { CompanySupervisor } from "../../host/company-supervisor.ts";
import type { HostContext } from "../../host/host-context.ts";
import { watchIncidents } from "../../host/incident-watch.ts";
import { noIncidents, type AlertState } from "../../status/alerts/incidents.ts";
import type { Lease } from "../ownership/ownership.ts";
import type { NodeContext } from "./node-context.ts";

/**
 * The alerts of a company while this node has it.
 *
 * Guarantee: what was decided is in Postgres, under this ownership, before it is sent: the next owner goes on from there.
 * Source of truth: table `alerts`, without a row where nothing was ever wrong; the file beside the mirror is a copy.
 * Worst outcome of a crash: an alert that its target has just taken is sent again, with the same id.
 */
export function createCompanyAlerts(
  lease: Lease,
  { tables: { companies }, host }: NodeContext,
  { log, turns }: HostContext,
  supervisor: CompanySupervisor,
) {
  const file = supervisor.settings.files.alerts;
  let noted = JSON.stringify(noIncidents);
  const note = async (state: AlertState): Promise<boolean> => {
    const text = JSON.stringify(state);
    try {
      if (text !== noted) await companies.note(lease, "state", state);
      noted = text;
      return true;
    } catch (error) {
      if (lease.isHeld()) log.warn("incidents cannot be noted: alerts wait", { error: messageOf(error) });
      return false;
    }
  };
  const views = () => turns.next().then(() => [supervisor.view()]);
  return {
    /** Takes over what earlier owners noted. Throws MirrorError `database`. */
    takeOver: async () => {
      const { state } = await companies.notesOf(lease.company);
      if (!state) return rmSync(file, { force: true });
      noted = JSON.stringify(state);
      writeFileAtomically(file, `${noted}\n`, 0o600);
    },

    /** Looks at the company, and sends what follows, until `over`. Never rejects. */
    follow: (over: AbortSignal) => {
      const context = { ...host, log, note, watchesDisk: false };
      return watchIncidents(context, () => supervisor.settings.config, views, over);
    },
  };
}
