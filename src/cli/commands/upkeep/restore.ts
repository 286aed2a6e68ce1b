import { existsSync, statSync } from "node:fs";
import { mirrorCopy } from "../../../backup/mirror-copy.ts";
import { restoreBackup } from "../../../backup/restore-backup.ts";
import { chosenCompanies } from "../../../config/companies.ts";
import type { CompanyConfig } from "../../../config/config.ts";
import { openStore } from "../../../file-store/open-store.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { addressOfBackups, warnOfFuture } from "../../runs/backup-company.ts";
import { forEachCompany } from "../../runs/each-company.ts";

/** Puts a backup of each company where its mirror belongs. */
export const restoreCommand: CommandRun<"restore"> = (context, { options, loaded: { config } }) => {
  const anyName = chosenCompanies(config, context.globals.company).length === 1;
  return forEachCompany(context, config, async (scope) => {
    const { manifest, company, files } = scope;
    const { clock, signal } = context;
    const from = addressOfBackups(scope, options.from);
    const isFile = statSync(from, { throwIfNoEntry: false })?.isFile() ?? false;
    const store = isFile ? mirrorCopy(from) : openStore(from, context);
    const asked = {
      company: company.name,
      keyPlaces: company.webhook.places,
      id: options.at ?? null,
      anyName,
    };
    await warnOfFuture(scope, store);
    const { id, backup, replaced } = await restoreBackup({ ...asked, manifest, files, store, clock, signal });
    const { taken_at, seq } = backup;
    const missing_keys = keyFilesMissing(company);
    const what = `restored from backup ${id} in ${from}${replaced ? ", over the mirror that was there" : ""}`;
    return {
      document: { outcome: "restored", from, id, taken_at, seq, replaced, missing_keys },
      lines: [
        `${company.name}: ${what}`,
        ...missing_keys.map((file) => `  The backup has no webhook secret for ${file}: ${getAnother}`),
        "  The next run lists everything; serve makes it at once. `fintoro-mirror sync --full` also reads every detail.",
      ],
    };
  });
};

const getAnother =
  "put it there, or have the service make another: `fintoro-mirror webhooks list`, then `webhooks rotate ID`";

function keyFilesMissing({ webhook }: CompanyConfig): string[] {
  return webhook.places.flatMap((place) =>
    place.kind === "file" && !existsSync(place.path) ? [place.path] : [],
  );
}
