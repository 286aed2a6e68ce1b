import path from "node:path";
import { MirrorError } from "../../../base/errors.ts";
import { putChecked, type FileStore } from "../../../file-store/file-store.ts";
import type { NodePublishing } from "../../../fleet/assignment/node-context.ts";
import { writeRight } from "../../../fleet/ownership/ownership.ts";
import { withOwnCopy } from "../../mirror/as-of.ts";
import type { CommandContext } from "../../program/command.ts";
import { packageCompany, proveMonth } from "../output/package.ts";

/** Makes the package of a month as `package --zip` does, in a copy of the mirror, as workers keep no PDFs, and stores it. */
export async function publishMonth(
  given: CommandContext,
  store: FileStore | null,
  ...[settings, { month, proved }, owner, guard, signal, key]: Parameters<NodePublishing["month"]>
): ReturnType<NodePublishing["month"]> {
  if (!store)
    throw new MirrorError("config", `${owner.node} has no fleet.reports, where packages are stored`);
  const context: CommandContext = {
    ...given,
    signal,
    showing: (step) => step(() => undefined),
    progress: (_, step) => step(),
  };
  const scope = { ...settings, context, guard };
  const proof = proved ? await proveMonth(scope, month) : null;
  if (proof?.match === false) return `${proof.equal} of ${proof.compared} documents equal the service`;
  return withOwnCopy(scope, async (own) => {
    const out = path.join(path.dirname(own.files.mirror), "out");
    let stored: Awaited<ReturnType<typeof putChecked>> | undefined;
    const deliver = async (archive: string) => {
      stored = await putChecked(store, key, archive, writeRight(owner, signal));
    };
    const { packed } = await packageCompany(own, { zip: true }, month, out, proof, deliver);
    if (!packed || !stored) return "the mirror changed meanwhile";
    const { log, position } = packed.hand_over;
    const { size_bytes: bytes, sha256 } = stored;
    return { key, log, position, proved, bytes, sha256, without_pdf: packed.withoutPdf };
  });
}
