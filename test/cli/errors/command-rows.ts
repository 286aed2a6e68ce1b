import { errorRows, otherConfig, type ErrorRow } from "../../support/program/error-row.ts";

const twoCompanies = (baseUrl: string) =>
  `base_url: ${baseUrl}\ncompanies:\n  acme: { token: "\${env:TOKEN}" }\n  beta: { token: "\${env:TOKEN}" }\n`;
const noMirror = {
  exit: 10,
  what: "there is no mirror",
  where: "data/acme.db",
  next: "Run `fintoro-mirror sync` first",
} as const;

/** What is wrong on the command line, or comes too early. */
export const commandRows: readonly ErrorRow[] = [
  ...errorRows({}, [
    "2 | no command |  | which command? | There are init, check, demo, sync | `fintoro-mirror --help`",
    "2 | a command with a slip | snyc | unknown command | snyc | (Did you mean sync?)",
    "2 | a command that is none | frobnicate | unknown command | frobnicate | `fintoro-mirror --help`",
    "2 | a group without its command | webhooks | which command? | webhooks create | `fintoro-mirror webhooks --help`",
    "2 | a command of a group with a slip | webhooks lst | unknown command | lst | (Did you mean list?)",
    "2 | an option with a slip | sync --ful | unknown option | --ful | (Did you mean --full?)",
    "2 | an option without its value | export --format | argument missing | --format <format> | `fintoro-mirror export --help`",
    "2 | a table with a slip | sync invoces | unknown table | invoces | Did you mean invoices?",
    "0 | a table that comes with others alone | sync document_payments | this run reads none of them | document_payments come with their owners | Name those to be read, too: invoices",
    "2 | a company with a slip | status --company acmee | unknown company | acmee | Did you mean acme?",
    '2 | a duration without a unit | sync --max-duration 5 | (it is "5") | --max-duration | such as 90s, 30m or 26h',
    '2 | a number that is none | sync --max-requests many | (it is "many") | --max-requests | must be a whole number',
    '2 | a number below the least | sync --max-requests 0 | (it is "0") | --max-requests | must be a whole number from 1',
    "2 | options that exclude each other | sync --quick --full | cannot be used with | '--quick' cannot be used with option '--full' | `fintoro-mirror sync --help`",
    '2 | a shard beyond their number | sync --shard 4/3 | must be I/N with I from 1 to N | (it is "4/3") | with three jobs give them 1/3, 2/3 and 3/3',
    '2 | a shard before the first | sync --shard 0/3 | must be I/N with I from 1 to N | (it is "0/3") | with three jobs give them 1/3, 2/3 and 3/3',
    '2 | a shard in words | sync --shard one/3 | must be I/N with I from 1 to N | (it is "one/3") | with three jobs give them 1/3, 2/3 and 3/3',
    "2 | a format that is none | export --format xls | is invalid | --format <format> | Allowed choices are csv, parquet",
    "2 | no reference | connector check | is needed: the reference to compare with | --openapi FILE | --openapi FILE",
    "2 | a reference that is not there | connector check --openapi none.yaml | cannot be read: there is no such file | --openapi none.yaml | Name the service's OpenAPI document",
    "2 | init without a token, in a script | init --no-input --base-url {base} -c new.yaml | a token is needed | whose company? | give --token-env NAME or --token-file FILE",
    "2 | init over a config | init --no-input --token-env TOKEN | is there already; nothing was written | config.yaml | --force replaces it",
    "2 | init with a variable that is not set | init --no-input --token-env NO_SUCH -c new.yaml | NO_SUCH is not set | new.yaml | set the variable where the program starts",
    "10 | init where no file can be | init --no-input --token-env TOKEN -c /proc/x/new.yaml --base-url {base} | there is no such file or folder | cannot make the folder /proc/x | Check the path",
    "1 | no sandbox to play on | sandbox trigger invoices.paid --port 1 | no sandbox answers | http://127.0.0.1:1 | start one with `fintoro-mirror sandbox --port N`",
    "1 | the age of no mirror | status --max-age 1h | no mirror yet | acme | Run `fintoro-mirror sync`",
  ]),
  ...errorRows({ config: otherConfig }, [
    "2 | a month of a service without packages | verify --month 2026-01 | has no documents of a month | Fakturoid | verify --all",
  ]),
  ...errorRows({ mirror: true }, [
    "2 | an argument too many | publish now | too many arguments | publish | `fintoro-mirror publish --help`",
    "2 | a view with a slip | export v_receivable --out x | unknown table | v_receivable | Did you mean v_receivables?",
    "2 | parts of a workbook | export --format xlsx --partition-by year | needs --format | --partition-by | csv or parquet or jsonl",
    "2 | a month and a day | export --month 2026-10 --from 2026-10-01 | cannot be used with | --month | `fintoro-mirror export --help`",
    "2 | a first day after the last | export --from 2026-10-05 --to 2026-10-01 | no row can be of that time | --from 2026-10-05 is after --to 2026-10-01 | Give the earlier day to --from",
    '2 | a month in words | export --month October | (it is "October") | --month | such as 2026-10',
    "2 | a package of no month | package | package needs --month | --month | such as --month 2026-10",
    "2 | a package of a month to come | package --month 2099-01 | has not begun yet | --month 2099-01 | Give a month that is over",
    '2 | an age that is none | status --max-age yesterday | (it is "yesterday") | --max-age | such as 90s, 30m or 26h',
    "2 | a verification of a month to come | verify --month 2126-01 | has not begun yet | --month 2126-01 | today is ",
    "2 | a month and everything | verify --month 2026-01 --all | cannot be used with | --month | `fintoro-mirror verify --help`",
    "2 | verify locally and at the service | verify --all --local | cannot be used with | --all | `fintoro-mirror verify --help`",
    "2 | a backup without a place | backup | nobody says where backups are | `backup: { to: … }` in the config | Name a folder or s3://BUCKET/PREFIX",
  ]),
  ...errorRows({ config: twoCompanies }, [
    "2 | several companies where one is meant | changes | the config has several companies | acme, beta | name one with --company",
  ]),
  ...errorRows({ before: ({ write }) => write("a.yaml", "{") }, [
    "2 | a reference that is no YAML | connector check --openapi a.yaml | not valid YAML | a.yaml:1:2 | it must be one YAML or JSON document",
  ]),
  ...errorRows({ before: ({ write }) => write("a.yaml", "") }, [
    "2 | a reference that is empty | connector check --openapi a.yaml | the file is empty | a.yaml:1:1 | it must be one YAML or JSON document",
  ]),
  ...errorRows({ before: ({ write }) => write("a.yaml", "hello: world") }, [
    "2 | a reference that is something else | connector check --openapi a.yaml | this is not an OpenAPI 3 document | it has no paths | Give the vendor's reference",
  ]),
  ...errorRows(noMirror, [
    " | changes before the first run | changes |  |  | ",
    " | a report before the first run | publish |  |  | ",
    " | an export before the first run | export --out x |  |  | ",
    " | a verification before the first run | verify |  |  | ",
    " | a backup before the first run | backup --to safe |  |  | ",
    " | a package before the first run | package --month 2026-10 |  |  | ",
  ]),
];
