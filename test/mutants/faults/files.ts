import { faultsIn, outside, type PlantedFault } from "../planted-fault.ts";

const ages: readonly PlantedFault[] = (
  [
    ["91-days", "> 90 THEN 'over 90'", "> 91 THEN 'over 90'"],
    ["90-days", "> 90 THEN 'over 90'", "> 89 THEN 'over 90'"],
    ["61-days", "> 60 THEN '61 to 90'", "> 61 THEN '61 to 90'"],
    ["60-days", "> 60 THEN '61 to 90'", "> 59 THEN '61 to 90'"],
    ["31-days", "> 30 THEN '31 to 60'", "> 31 THEN '31 to 60'"],
    ["30-days", "> 30 THEN '31 to 60'", "> 29 THEN '31 to 60'"],
    ["1-day", "> 0 THEN '1 to 30'", "> 1 THEN '1 to 30'"],
    ["0-days", "> 0 THEN '1 to 30'", ">= 0 THEN '1 to 30'"],
  ] as const
).map(([edge, find, replace]) => ({
  id: `age-wrong-at-${edge}`,
  file: "connectors/fintoro/report/view-sql.ts",
  find,
  replace,
  why: `a receivable ${edge.replace("-", " ")} past due has the wrong age`,
  tests: ["test/fintoro/views-ageing.test.ts"],
  outsideSimulation: outside.report,
}));

const others = faultsIn(
  `
  src/base/files/atomic-file.ts, found by test/report/publish.test.ts
    file-renamed-before-it-is-on-the-disk: after a power cut the report's name leads to an empty file
      -   syncToDisk(finished);
    rename-not-on-the-disk: after a power cut the earlier file is there again, although the command said that it wrote
      -   syncToDisk(path.dirname(file));
  src/base/files/hashed-file.ts, found by test/export/runs.test.ts
    exported-file-not-on-the-disk: after a power cut the manifest names an empty file
      -     await handle.sync();
  src/export/files/staging.ts, found by test/export/runs.test.ts
    folder-of-exported-files-not-on-the-disk: after a power cut the manifest names a file that is not there
      -     for (const folder of folders) syncToDisk(folder);
    manifest-before-its-files: a reader finds a manifest whose files are not there yet, or are those of before
      -       for (const file of files) await this.#move(file.path);
      +       writeFileAtomically(place, manifest.text);
      +       for (const file of files) await this.#move(file.path);
  src/report/report-file.ts, found by test/report/publish.test.ts
    report-renamed-before-it-is-on-the-disk: after a power cut the report is an empty file
      -   replaceFile(next, report);
      +   process.getBuiltinModule("node:fs").renameSync(next, report);
  src/report/build-report.ts, found by test/report/changes.test.ts
    deleted-record-that-came-back-stays-deleted: the report shows a record and calls it deleted
      - [documentFiles, deletedRecords]
      + [documentFiles]
  connectors/fintoro/report/sales.ts, found by test/fintoro/views-ageing.test.ts
    due-today-is-overdue: what is due today counts as overdue
      - \${sql.daysSince("d.due_date")} > 0\`
      + \${sql.daysSince("d.due_date")} >= 0\`
  connectors/fintoro/report/receivables.ts, found by test/fintoro/views-ageing.test.ts
    currencies-added-up: crowns and euros of one client and age are one sum
      - GROUP BY buyer, client_id, currency, age
      + GROUP BY buyer, client_id, age
  src/http/exchange.ts, found by test/http/attempts.test.ts
    retry-after-of-503-not-obeyed: a service under maintenance that asks for a pause is asked again at once
      - return errorOfStatus(head, body, waitS === null ? null : waitS * 1000);
      + return errorOfStatus(head, body, waitS === null ? null : null);
      outside: network
  src/http/response-body.ts, found by test/http/content.test.ts
    no-cap-after-decompression: a small answer that unpacks to gigabytes takes all memory
      - return await take(stream, capBytes, null);
      + return await take(stream, 2 ** 32, capBytes < 0 ? 0 : null);
      outside: network
  src/store/snapshot/overlay.ts, found by test/state/as-of.test.ts
    outdated-overlay-is-read: books of an earlier moment show what changed while they were made
      - coalesce(known, last) = last AS isKnown
      + coalesce(known, last) <= last AS isKnown
  src/state/as-of/moment.ts, found by test/state/as-of.test.ts
    clock-trusted-for-as-of: a boot at 1970 ends all days before it
      - ORDER BY score, id DESC LIMIT 1
      + ORDER BY id DESC LIMIT 1
`,
  outside.report,
);

/** Published reports, exported files and answers: promises beside the invariants that tests once did not hold. */
export const fileFaults = [...ages, ...others];
