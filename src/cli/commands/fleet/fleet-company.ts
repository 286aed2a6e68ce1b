import { MirrorError } from "../../../base/errors.ts";
import type { CompanySettings } from "../../../store/mirror-files.ts";
import { putChecked, type FileStore } from "../../../file-store/file-store.ts";
import type { NodePublishing } from "../../../fleet/assignment/node-context.ts";
import { writeRight } from "../../../fleet/ownership/ownership.ts";
import type { RequestGuard } from "../../../runs/service-connection.ts";
import { withScratchFolder } from "../../mirror/as-of.ts";
import type { CommandContext } from "../../program/command.ts";
import { fetchFilesOf } from "../output/after-run-command.ts";
import { packageCompany, proveMonth } from "../output/package.ts";

/** A company that a worker owns, as commands know one. Its requests need the permits of its ownership. */
function scopeOf(given: CommandContext, settings: CompanySettings, guard: RequestGuard, signal: AbortSignal) {
  const context: CommandContext = {
    ...given,
    signal,
    showing: (step) => step(() => undefined),
    progress: (_, step) => step(),
  };
  return { ...settings, context, guard };
}

/** Makes the package of a month as `package --zip` does, and stores it. */
export async function publishMonth(
  given: CommandContext,
  store: FileStore | null,
  ...[company, { month, proved }, owner, guard, signal, key]: Parameters<NodePublishing["month"]>
): ReturnType<NodePublishing["month"]> {
  if (!store)
    throw new MirrorError("config", `${owner.node} has no fleet.reports, where packages are stored`);
  const scope = scopeOf(given, company, guard, signal);
  const proof = proved ? await proveMonth(scope, month) : null;
  if (proof?.match === false) return `${proof.equal} of ${proof.compared} documents equal the service`;
  return withScratchFolder(scope, "month", async (out) => {
    let stored: Awaited<ReturnType<typeof putChecked>> | undefined;
    const deliver = async (archive: string) => {
      stored = await putChecked(store, key, archive, writeRight(owner, signal));
    };
    const own = { ...scope, moment: null };
    const { packed } = await packageCompany(own, { zip: true }, month, out, proof, deliver);
    if (!packed || !stored) return "the mirror changed meanwhile";
    const { log, position } = packed.hand_over;
    const { size_bytes: bytes, sha256 } = stored;
    return { key, log, position, proved, bytes, sha256, without_pdf: packed.withoutPdf };
  });
}

export async function fetchOwnedFiles(
  given: CommandContext,
  ...[company, guard, signal]: Parameters<NodePublishing["files"]>
): ReturnType<NodePublishing["files"]> {
  return (await fetchFilesOf(scopeOf(given, company, guard, signal))).isReportDue;
}
