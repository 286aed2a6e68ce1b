import { rmSync } from "node:fs";
import { onTestFinished, vi } from "vitest";
import { otherConfig, errorRows, type ErrorRow } from "../../support/program/error-row.ts";

const whole = (text: string) => () => text;
const secret = (reference: string) => whole(`companies:\n  acme: { token: "${reference}" }\n`);
const howToWrite = "`fintoro-mirror schema` describes every key";
const inConfig = { exit: 2, next: howToWrite } as const;

/** What is wrong in, or with, the config. */
export const configRows: readonly ErrorRow[] = [
  ...errorRows({ config: otherConfig }, [
    "2 | a quick run of a service whose usual run is one | sync --quick | --quick is not for Fakturoid | its lists show what changed | leave --quick out",
  ]),
  ...errorRows({ before: ({ at }) => rmSync(at("config.yaml")) }, [
    "2 | no config at all | sync | cannot be read: there is no such file | the config config.yaml | name yours with --config FILE",
  ]),
  ...errorRows({}, [
    "2 | --config names no file | sync --config other.yaml | there is no such file | other.yaml | name yours with --config FILE",
    "2 | --config names a folder | sync -c . | it is a folder | the config . cannot be read | name yours with --config FILE",
  ]),
  ...errorRows({ config: whole("companies:\n  acme: { token: x\n"), ...inConfig }, [
    " | a bracket of YAML that is not closed | sync | not valid YAML | config.yaml:3:1 | ",
  ]),
  ...errorRows({ config: whole("companies:\n\tacme:\n") }, [
    "2 | a tab in YAML | sync | a tab cannot indent YAML | config.yaml:2:1 | use spaces",
  ]),
  ...errorRows({ config: whole(""), ...inConfig }, [
    " | an empty config | sync | the file is empty | config.yaml:1:1 | ",
  ]),
  ...errorRows({ config: "data_dri: x\n" }, [
    "2 | a key that is not known | sync | unknown key data_dri | config.yaml:5:1 | Did you mean data_dir?",
  ]),
  ...errorRows({ config: "http: { concurrency: many }\n" }, [
    '2 | a value of the wrong type | sync | (it is "many") | config.yaml:5:22: http.concurrency | must be a whole number from 1 to 32',
  ]),
  ...errorRows({ config: whole("companies:\n  acme: { token: a1 }\n  acme: { token: b1 }\n") }, [
    "2 | the same company twice | sync | this key is already in the same map | config.yaml:3:3 | keep one of the two",
  ]),
  ...errorRows({ config: whole("companies:\n  ../acme: { token: a1 }\n") }, [
    '2 | a company\'s name that is no file name | sync | the company name "../acme" becomes a file name | config.yaml:2:3 | use letters, digits, - and _ only',
  ]),
  ...errorRows({ config: whole("data_dir: x\n"), ...inConfig }, [
    ' | no company | sync | the config needs "companies" | config.yaml:1:1 | ',
  ]),
  ...errorRows({ config: secret("${envv:TOKEN}") }, [
    "2 | a token behind an unknown kind of reference | sync | companies.acme.token | config.yaml:2:18 | write ${env:NAME} or ${file:/path}",
  ]),
  ...errorRows({ config: secret("${env:NO_SUCH}") }, [
    "2 | an environment variable that is not set | sync | the environment variable NO_SUCH is not set | config.yaml:2:18: companies.acme.token | set the variable where the program starts",
  ]),
  ...errorRows({ config: secret("${file:./acme.token}") }, [
    "2 | a token's file that is missing | sync | acme.token cannot be read (there is no such file) | config.yaml:2:18: companies.acme.token | put the secret alone into the file (mode 0600)",
  ]),
  ...errorRows({ config: secret("${file:./acme.token}"), before: ({ write }) => write("acme.token", "\n") }, [
    "2 | a token's file that is empty | sync | acme.token is empty | config.yaml:2:18: companies.acme.token | put the secret alone into the file",
  ]),
  ...errorRows({ env: { TOKEN: "a b\nc" } }, [
    "2 | a token with a space and a line break | sync | holds a space, a line break | config.yaml:4:12: companies.acme.token | the secret alone",
  ]),
  ...errorRows({ config: "schedule: { sync: at noon }\n" }, [
    '2 | a schedule that is no cron pattern | sync | (it is "at noon") | config.yaml:5:19: schedule.sync | must be a cron pattern such as "15 2 * * *", or off',
  ]),
  ...errorRows({ config: "schedule: { timezone: Europe/Bratislav }\n" }, [
    '2 | a time zone that does not exist | sync | (it is "Europe/Bratislav") | config.yaml:5:23: schedule.timezone | must be a time zone such as Europe/Bratislava',
  ]),
  ...errorRows(
    { config: whole("base_url: http://api.example.com/v1\ncompanies: { acme: { token: abc } }\n") },
    [
      "2 | http:// to another machine | sync | http:// only for this machine | config.yaml:1:11: base_url | must use https://",
    ],
  ),
  ...errorRows({ config: whole("base_url: app.fintoro.sk\ncompanies: { acme: { token: abc } }\n") }, [
    "2 | a base_url that is no URL | sync | must be a URL | config.yaml:1:11: base_url | such as https://example.com/path",
  ]),
  ...errorRows({ config: "data_dir: ./books\n", before: ({ write }) => write("books", "") }, [
    "2 | a data_dir that is a file | sync | books is a file | config.yaml:5:11: data_dir needs a folder | name another folder",
  ]),
  ...errorRows({ config: "data_dir: /proc/mirror\n" }, [
    "10 | a data_dir that cannot be made | sync | the database cannot be opened | /proc/mirror | Check that data_dir exists and may be read and written",
  ]),
  ...errorRows({ config: "resources: { include: [invoces] }\n" }, [
    "2 | a resource that does not exist | sync | must name a resource | config.yaml:5:24: resources.include[0] | Did you mean invoices?",
  ]),
  ...errorRows({ config: "report: { redact: { clients.emial: drop } }\n", mirror: true }, [
    "2 | a redacted column that does not exist | publish | unknown column emial of clients | config.yaml:5:21 | Did you mean email?",
  ]),
  ...errorRows({ config: "serve: { listen: 8787 }\n" }, [
    '2 | an address to listen on without a host | serve | (it is 8787) | config.yaml:5:18: serve.listen | such as "127.0.0.1:8787"',
  ]),
  ...errorRows({ config: "alerts: [{ when: [failed] }]\n" }, [
    "2 | an alert that goes nowhere | alerts test | one of the two | config.yaml:5:10: alerts[0] | must have a command or a url",
  ]),
  ...errorRows(
    {
      config: '    webhook: { secrets: [short], public_url: "https://h.example/webhooks/acme" }\n',
      ...inConfig,
    },
    [
      " | a webhook secret that can be guessed | serve | has fewer than 16 characters: it can be guessed | config.yaml:5:26: companies.acme.webhook.secrets[0] | ",
    ],
  ),
  ...errorRows(
    {
      config: whole('base_url: https://api.invalid/v1\ncompanies:\n  acme: { token: "${env:TOKEN}" }\n'),
      before: () => {
        vi.stubEnv("HTTPS_PROXY", "proxy");
        onTestFinished(() => void vi.unstubAllEnvs());
      },
    },
    [
      "1 | a proxy that is no address | sync | must be a proxy's address | HTTPS_PROXY | such as http://proxy.example.com:3128",
    ],
  ),
];
