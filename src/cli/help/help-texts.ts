/** A command line without the program's name, and what it does. */
export type Example = readonly [args: string, does: string];

/** First words of commands by the task they are for, in the order of help. */
const tasks = {
  "First steps:": ["init", "check", "demo"],
  "Every night:": ["sync", "status", "verify"],
  "Reports and files:": ["publish", "export", "package", "changes", "files"],
  "Seconds behind, by webhooks:": ["serve", "webhooks"],
  "Many machines:": ["worker", "fleet"],
  "Operation:": ["alerts", "backup", "restore", "prune", "completion", "after-run"],
  "Development:": ["schema", "sandbox", "connector"],
};

/** What the commands that begin with a word are about. */
export const groupSummaries: Readonly<Record<string, string>> = {
  alerts: "try the targets of alerts",
  fleet: "companies that workers on many machines share through Postgres",
  connector: "compare the connector with a published reference of the service",
  webhooks: "subscriptions at the service, and the deliveries received",
};

/** The heading of help under which a command stands, by its first word. */
export const helpGroups: ReadonlyMap<string, string> = new Map(
  Object.entries(tasks).flatMap(([heading, words]) => words.map((word) => [word, heading] as const)),
);

/** The commands in the order of help: by task. */
export function byTask<T extends { readonly name: string }>(commands: readonly T[]): T[] {
  const words = [...helpGroups.keys()];
  const placeOf = ({ name }: T) => words.indexOf(name.split(" ")[0] ?? "") + 1 || words.length + 1;
  return commands.toSorted((a, b) => placeOf(a) - placeOf(b));
}

const examples: Readonly<Record<string, readonly Example[]>> = {
  "": [
    ["init", "write a first config, then: check, sync"],
    ["sync --dry-run", "what a run would cost"],
  ],
  init: [
    ["init", "answer a few questions"],
    ["init --token-env FINTORO_TOKEN --company acme --no-input", "in a script"],
  ],
  check: [
    ["check", "everything, before the first run"],
    ["check --json > check.json", "for a report of a problem"],
  ],
  demo: [
    ["demo", "needs no account"],
    ["demo --out tour", "leave what was made in a folder of its own"],
  ],
  sync: [
    ["sync", "everything that is new or changed; Ctrl-C loses nothing"],
    ["sync invoices clients --max-duration 10m", "two tables, ten minutes at most"],
  ],
  status: [
    ["status", "how things stand"],
    ["status --max-age 26h -q", "for a monitor: the exit code says it"],
  ],
  verify: [
    ["verify --sample 500", "all lists and 500 details"],
    ["verify --local", "the mirror against itself, without a request"],
  ],
  publish: [
    ["publish", "the report, at once"],
    ["publish --datasette", "with what Datasette shows about it"],
  ],
  export: [
    ["export v_receivables --dialect excel-sk --out excel", "who owes us, for a Slovak Excel"],
    ["export --format parquet --out lake --partition-by year", "all tables, by year"],
  ],
  package: [
    ["package --month 2026-10", "a month in a folder"],
    ["package --month 2026-10 --zip --out accountant", "and as a ZIP archive to send"],
  ],
  changes: [
    ["changes --resource invoices", "every change of invoices, the oldest first"],
    [
      "changes --since 3f9a2c718b1d:28346876123001 --follow",
      "go on from there, stay, and print each new one",
    ],
  ],
  files: [
    ["files --month 2026-10", "PDFs and attachments of a month"],
    ["files --max-requests 500", "some of them; the next run goes on"],
  ],
  "files check": [
    ["files check", "prove every byte"],
    ["files check --company acme --json", "of one company, for a script"],
  ],
  worker: [
    ["worker", "one of many, until Ctrl-C"],
    ["worker --role receive --listen 0.0.0.0:8787", "answer deliveries only, behind a load balancer"],
  ],
  serve: [
    ["serve", "until Ctrl-C"],
    ["serve --listen 127.0.0.1:9000", "at another port"],
  ],
  "webhooks list": [
    ["webhooks list", "what the service delivers, and where to"],
    ["webhooks list --company acme --json", "of one company, for a script"],
  ],
  "webhooks create": [
    ["webhooks create --token-env FINTORO_WRITE_TOKEN", "all events, to the config's address"],
    ["webhooks create --events invoices.paid,clients.updated", "two events only"],
  ],
  "webhooks update": [
    ["webhooks update 12 --active off", "pause it"],
    ["webhooks update 12 --events all", "deliver everything"],
  ],
  "webhooks rotate": [
    ["webhooks rotate 12", "a new secret; the old one is accepted for a day"],
    ["webhooks rotate 12 --keep-old 0s", "the old one is known to others: not at all"],
  ],
  "webhooks delete": [
    ["webhooks delete 12", "asks before"],
    ["webhooks delete 12 --yes", "in a script"],
  ],
  "webhooks inbox": [
    ["webhooks inbox --since 2h", "what came in two hours"],
    ["webhooks inbox --state waiting --resource invoices", "what is still to be read"],
  ],
  "webhooks replay": [
    ["webhooks replay --since 3d", "all events of three days"],
    ["webhooks replay --since 1d --state unknown", "those that nobody knew"],
  ],
  "alerts test": [
    ["alerts test", "to every target"],
    ["alerts test --json", "for a script"],
  ],
  backup: [
    ["backup --to /mnt/backup", "also beside serve"],
    ["backup --to s3://bucket/mirror --keep 14", "to an object store, two weeks of them"],
  ],
  restore: [
    ["restore --from /mnt/backup", "the last one"],
    ["restore --from s3://bucket/mirror --company acme", "of one company"],
  ],
  prune: [
    ["prune --dry-run", "what would go"],
    ["prune --company acme", "of one company"],
  ],
  completion: [
    ["completion bash >> ~/.bash_completion", "bash, from the next shell on"],
    ["completion zsh > ~/.zfunc/_fintoro-mirror", "zsh, with ~/.zfunc in $fpath"],
  ],
  "after-run": [
    ["after-run", "as serve starts it, with the config on stdin"],
    ["after-run --only report", "the report alone"],
  ],
  schema: [
    ["schema --tables", "every table, view and column"],
    ["schema > config.schema.json", "for an editor"],
  ],
  sandbox: [
    ["sandbox --port 8080 --records medium", "5,000 documents"],
    ["sandbox --limit 6000 --faults 500:0.05,reset:0.01", "fast, and failing at times"],
  ],
  "sandbox trigger": [
    ["sandbox trigger invoices.paid --port 8080", "an invoice is paid"],
    ["sandbox trigger clients.updated --id 7 --forge --port 8080", "the event without the change"],
  ],
  "sandbox tick": [
    ["sandbox tick --port 8080", "a working day in a minute"],
    ["sandbox tick --port 8080 --duration 10s --changes 20", "a shorter one"],
  ],
  "fleet add": [
    ["fleet add --all", "every company of the config"],
    ["fleet add acme beta --json", "two of them, for a script"],
  ],
  "fleet remove": [
    ["fleet remove acme", "its worker releases it; its snapshot stays"],
    ["fleet remove acme --forget", "and `fleet add acme` reads it anew"],
  ],
  "fleet list": [
    ["fleet list", "who has which company"],
    ["fleet list --company acme --json", "what is shared of one"],
  ],
  "fleet status": [
    ["fleet status", "what is wrong first, then who has which company"],
    ["fleet status --max-age 26h --json", "for a script; exits 1 if a company's data are older"],
  ],
  "fleet drain": [
    ["fleet drain worker-1", "before its machine is taken away"],
    ["fleet drain worker-1 --json", "for a script"],
  ],
  "connector check": [
    ["connector check --openapi openapi.yaml", "what has drifted from the reference"],
    ["connector check --openapi openapi.yaml --json", "for a script"],
  ],
};

/** The examples of a command; of a group the first ones of its commands. */
export function examplesOf(words: readonly string[]): readonly Example[] {
  const name = words.join(" ");
  const own = examples[name];
  if (own) return own;
  const below = Object.keys(examples).filter((one) => one.startsWith(`${name} `));
  const [first = [], ...others] = below.map((one) => examples[one] ?? []);
  return [...first.slice(0, 1), ...others.flatMap((one) => one.slice(0, 1)), ...first.slice(1)].slice(0, 2);
}

/** What help shows after the options. */
export function helpOf(words: readonly string[]): string {
  const shown = examplesOf(words);
  if (shown.length === 0) return "";
  const lines = shown.flatMap(([args, does]) => [`  # ${does}`, `  fintoro-mirror ${args}`]);
  return ["", "Examples:", ...lines].join("\n");
}

/** A summary as the list of commands shows it: up to its first colon or semicolon. */
export function shortSummary(summary: string): string {
  return /^[^:;]*/.exec(summary)?.[0] ?? summary;
}
