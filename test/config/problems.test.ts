import { describe, expect, test } from "vitest";
import { complaints, load, minimal } from "../support/connector/config.ts";

test.each([
  ["companies:\n  acme:\n    tokn: abc\n", "3:5: unknown key tokn in companies.acme. Did you mean token?"],
  [
    "companies:\n  a: &a { token: x }\n  b:\n    <<: *a\n    tokn: y\n",
    "5:5: unknown key tokn in companies.b. Did you mean token?",
  ],
  [
    minimal("http: { proxy: x }\n"),
    "4:9: unknown key proxy in http. There are concurrency, timeout, max_response, patience",
  ],
  [minimal("rate_limit: { reserv: 5% }\n"), "4:15: unknown key reserv in rate_limit. Did you mean reserve?"],
  [
    minimal("exports: [{ format: csv, out: x, dailect: y }]\n"),
    "4:34: unknown key dailect in exports[0]. Did you mean dialect?",
  ],
  [
    minimal("resources: { contact_activity_logs: { parents: 5 } }\n"),
    "4:39: unknown key parents in resources.contact_activity_logs. Did you mean parents_per_run?",
  ],
  [minimal("__proto__: { a: 1 }\n"), "4:1: unknown key __proto__"],
  [minimal("log: { level: info, half }\n"), "4:21: unknown key half in log. There is level"],
  [
    minimal("serve: { page_token: a-token-of-sixteen, half }\n"),
    "4:42: an unknown key without a value in serve; a text with a comma needs quotes here",
  ],
  [
    "companies: { acme: { token: '${env:TOKEN}', webhook: { secrets: [], whsec_half } } }",
    "1:69: an unknown key without a value in companies.acme.webhook; a text with a comma needs quotes here",
  ],
])(
  "an unknown key is reported once, with its place and what was meant or is known there: %j",
  (text, said) => {
    expect(complaints(text)).toEqual([expect.stringContaining(`config.yaml:${said}`)]);
  },
);

describe("a file in the place of a folder is named with the key's place", () => {
  // Fault: files | a file stands where `data_dir` or `report.out` should be | the file system under the config | refused with line and column, exit 2
  test.each([
    ["data_dir: /dev/null/deep", "4:11", "data_dir needs a folder"],
    ["report: { out: /dev/null }", "4:16", "report.out needs a folder"],
    ["fleet: { postgres: 'postgres:///f', snapshots: /dev/null }", "4:48", "fleet.snapshots needs a folder"],
  ])("%s", (line, position, message) => {
    const said = `config.yaml:${position}: ${message}, and /dev/null is a file`;
    expect(complaints(minimal(`${line}\n`))).toEqual([said]);
  });

  test("where the key is left out, too", () => {
    const files = { "/dev/null/config.yaml": minimal() };
    expect(complaints("", { cwd: "/dev/null", files })).toEqual([
      "config.yaml:1:1: data_dir needs a folder, and /dev/null is a file",
    ]);
  });
});

test.each([
  ["http: { timeout: 30 }", 'must be a duration from 100ms to 30m 00s such as "30s" or "5m" (it is 30)'],
  ["http: { timeout: 2h }", "http.timeout must be a duration from 100ms to 30m 00s"],
  ["report: { mode: 0640 }", 'report.mode must be a mode in quotes such as "0640" (it is 640)'],
  ['report: { mode: "0666" }', 'report.mode must be a mode in quotes such as "0640"'],
  ["http: { concurrency: 0 }", "http.concurrency must be a whole number from 1 to 32 (it is 0)"],
  ["http: { concurrency: 1.5 }", "http.concurrency must be a whole number"],
  ["http: { max_response: 256 }", 'must be a size from 64.0 kB to 2.00 GB such as "256MB" (it is 256)'],
  ["http: { max_response: 1kB }", "http.max_response must be a size"],
  ["http: []", "http must be a map of keys (it is a list)"],
  ["rate_limit: { reserve: 10 }", 'must be a percentage from 0% to 90% such as "10%" (it is 10)'],
  ["rate_limit: { reserve: 100% }", "rate_limit.reserve must be a percentage from 0% to 90%"],
  ["rate_limit: { window: -5s }", "rate_limit.window must be a duration"],
  ["language: klingon!", "language must be a language such as en"],
  ["data_dir: ''", "data_dir must be a folder"],
  ["data_dir: ~/data", "data_dir must be a path as it is: ~ and ${…} stand for nothing in it"],
  ["report: { out: '${env:HOME}/reports' }", "report.out must be a path as it is"],
  ["backup: { to: ~/backups }", "backup.to must be a path as it is"],
  ["exports: [{ format: csv, out: ~/csv }]", "exports[0].out must be a path as it is"],
  ["exports: [{ format: csv, out: s3://bucket/csv }]", 'out must be a folder (it is "s3://bucket/csv")'],
  ["data_dir: file:///data", "data_dir must be a folder"],
  ["log: { level: wran }", "log.level must be one of debug, info, warn, error. Did you mean warn? (it is "],
  ["log: { level: }", "log.level must be one of debug, info, warn, error (it is empty)"],
  ["files: { pdf: maybe }", 'files.pdf must be on or off (it is "maybe")'],
  ["schedule: { publish: aftersync }", "after_sync, or off"],
  ["schedule: { sync: 99 99 * * * }", "schedule.sync must be a cron pattern"],
  ['schedule: { sync: "0 0 31 2 *" }', "schedule.sync must name a time that comes"],
  ['serve: { listen: "127.0.0.1:99999" }', 'must be an address and a port such as "127.0.0.1:8787"'],
  ["exports: [{ format: cvs, out: x }]", "must be one of csv, parquet, jsonl, xlsx. Did you mean csv?"],
  ["exports: [{ format: xlsx, out: x, partition_by: year }]", "needs format csv or parquet or jsonl"],
  ["exports: [{ format: csv, out: x, nested: true }]", "exports[0].nested needs format parquet"],
  ["exports: [{ format: xlsx, out: x, dialect: excel-sk }]", "exports[0].dialect needs format csv"],
  ["exports: [{ format: jsonl, out: x, language: sk }]", "exports[0].language needs format csv or xlsx"],
  ["exports: [{ format: csv }]", 'exports[0] needs "out"'],
  ["exports: [{ format: csv, out: x, tables: v }]", "exports[0].tables must be a list of tables (it is"],
  ["exports: [{ format: csv, out: x, tables: [] }]", "exports[0].tables must name at least one table"],
  ["exports: { format: csv }", "exports must be a list (it is a map)"],
  ["resources: { include: [invoices], exclude: [clients] }", "must have include or exclude, not both"],
  ["resources: { contact_activity_logs: { parents_per_run: 0 } }", "must be a whole number from 1"],
  ["resources: { contact_activity_logs: { parents_per_run: some } }", "must be auto, all or a number from 1"],
  ["scrub: { time: often }", "scrub.time must be a duration from 1m 00s to 24h 00m"],
  ["scrub: { cycle: 1h }", "scrub.cycle must be a duration from 24h 00m to 3650d 0h"],
  ["connector: finttoro", "connector must be one of fintoro. Did you mean fintoro?"],
])("a value of the wrong kind is reported with what it must be: %s", (line, message) => {
  expect(complaints(minimal(`${line}\n`))).toEqual([expect.stringContaining(message)]);
});

const withEntries = (...entries: string[]) =>
  minimal(`exports:\n${entries.map((entry) => `  - { ${entry} }\n`).join("")}`);

describe("two entries of `exports` that write the same files", () => {
  test.each([
    ["format: csv, out: x", "format: csv, out: x/, dialect: excel-sk"],
    ["format: csv, out: x, tables: [invoices]", "format: csv, out: x"],
    ["format: csv, out: x, tables: [v, w], month: current", "format: csv, out: x, tables: [v]"],
    ["format: csv, out: x", "format: csv, out: x, tables: [invoice_items], month: current"],
    ["format: xlsx, out: x, tables: [a, b]", "format: xlsx, out: x, tables: [c, d]"],
  ])("are refused: %s beside %s", (first, second) => {
    const message = "exports[1].out must be another one: exports[0] writes the same files there";
    expect(complaints(withEntries(first, second))).toEqual([expect.stringContaining(message)]);
  });

  test("of an object store are refused, too; those of other formats, tables or places are not", () => {
    const [first, second] = ["format: csv, out: x, to: s3://b/p", "format: csv, out: y, to: s3://b/p/"];
    expect(complaints(withEntries(first, second))).toEqual([expect.stringContaining("exports[1].to must")]);
    const apart = ["format: parquet, out: x", "format: csv, out: x, tables: [v_stock]"];
    const folders = ["format: csv, out: z", "format: csv, out: w"];
    const nested = "format: parquet, out: n, nested: true";
    const parts = [nested, "format: parquet, out: n, tables: [invoice_items]"];
    expect(load(withEntries(first, ...apart, ...folders, ...parts)).config.exports).toHaveLength(7);
  });
});

test("all mistakes are reported at once, in the order of the file, whatever their kind", () => {
  const text = [
    "base_url: http://service.example",
    "companies:",
    "  acme: { tokn: x }",
    "  ACME: { token: '${env:NOT_SET}' }",
    "  a/b: { token: t }",
    "http: { timeout: 30 }",
  ];
  expect(complaints(text.join("\n")).map((line) => line.slice(0, 60))).toEqual([
    "config.yaml:1:11: base_url must use https:// (http:// only f",
    "config.yaml:3:11: unknown key tokn in companies.acme. Did yo",
    'config.yaml:4:3: the company names "acme" and "ACME" differ ',
    "config.yaml:4:18: companies.ACME.token: the environment vari",
    'config.yaml:5:3: the company name "a/b" becomes a file name:',
    "config.yaml:6:18: http.timeout must be a duration from 100ms",
  ]);
});

describe("companies", () => {
  // Fault: files | company names that lead out of the folder or are JavaScript's | the config | refused with line and column
  test.each([
    ["companies:\n", '1:1: the config needs "companies"'],
    ["companies: {}\n", "1:12: companies must name at least one company"],
    ["companies: [acme]\n", "1:12: companies must be a map of keys"],
    ["companies:\n  acme:\n", "2:8: companies.acme must be a map of keys (it is empty)"],
    ["companies: { acme: {} }\n", '1:14: companies.acme needs "token"'],
    ["companies: { ../acme: { token: x } }\n", '1:14: the company name "../acme" becomes a file name'],
    ["companies: { .acme: { token: x } }\n", '1:14: the company name ".acme" becomes a file name'],
    ["companies: { __proto__: { token: x } }\n", '1:14: the company name "__proto__" cannot be used'],
    [`companies: { ${"a".repeat(65)}: { token: x } }\n`, "at most 64"],
  ])("%j is refused", (text, message) => {
    expect(complaints(text)).toEqual([expect.stringContaining(message)]);
  });
});
