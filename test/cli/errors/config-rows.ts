import { rmSync } from "node:fs";
import { onTestFinished, vi } from "vitest";
import { otherConfig, errorRows, type ErrorSetups } from "../../support/program/error-row.ts";

const whole = (text: string) => () => text;

const setups: ErrorSetups = {
  other: { config: otherConfig },
  missing: { before: ({ at }) => rmSync(at("config.yaml")) },
  unclosed: { config: whole("companies:\n  acme: { token: x\n") },
  tabbed: { config: whole("companies:\n\tacme:\n") },
  doubled: { config: whole("companies:\n  acme: { token: a1 }\n  acme: { token: b1 }\n") },
  mistaken: { config: whole("companies:\n  acme:\n    tokn: abc\nhttp: { timeout: 5 }\n") },
  unset: { config: whole('companies:\n  acme: { token: "${env:NO_SUCH}" }\n') },
  redacted: { config: "report: { redact: { clients.emial: drop } }\n", mirror: true },
  proxied: {
    config: whole('base_url: https://api.invalid/v1\ncompanies:\n  acme: { token: "${env:TOKEN}" }\n'),
    before: () => {
      vi.stubEnv("HTTPS_PROXY", "proxy");
      onTestFinished(() => void vi.unstubAllEnvs());
    },
  },
};

export const configRows = errorRows(setups, [
  "other 2 | a quick run of a service whose usual run is one | sync --quick | --quick is not for Fakturoid | its lists show what changed | leave --quick out",
  "mistaken 2 | several mistakes, of which check shows each | check | config.yaml:3:5: unknown key tokn in companies.acme. | fail config: config.yaml:4:18: http.timeout must be | Did you mean token?",
  "missing 2 | no config at all | sync | cannot be read: there is no such file | the config config.yaml | name yours with --config FILE",
  "2 | a key that is not known | sync | unknown key data_dri | config.yaml:5:1 | Did you mean data_dir? | data_dri: x",
  '2 | a schedule that is no cron pattern | sync | (it is "at noon") | config.yaml:5:19: schedule.sync | must be a cron pattern such as "15 2 * * *", or off | schedule: { sync: at noon }',
  '2 | a schedule with an hour that does not exist | sync | (it is "0 25 * * *") | config.yaml:5:20: schedule.quick | must be a cron pattern such as "15 2 * * *", or off | schedule: { quick: "0 25 * * *" }',
  '2 | a schedule with a minute that does not exist | sync | (it is "99 2 * * *") | config.yaml:5:22: schedule.publish | cron pattern | schedule: { publish: "99 2 * * *" }',
  '2 | a time zone that does not exist | sync | (it is "Europe/Bratislav") | config.yaml:5:23: schedule.timezone | must be a time zone such as Europe/Bratislava | schedule: { timezone: Europe/Bratislav }',
  "10 | a data_dir that cannot be made | sync | the database cannot be opened | /proc/mirror | Check that data_dir exists and may be read and written | data_dir: /proc/mirror",
  "2 | a resource that does not exist | sync | must name a resource | config.yaml:5:24: resources.include[0] | Did you mean invoices? | resources: { include: [invoces] }",
  "2 | an export of a view that does not exist | sync | unknown table v_stok | config.yaml:5:47 | Did you mean v_stock? | exports: [{ format: csv, out: ./csv, tables: [v_stok] }]",
  '2 | an address to listen on without a host | serve | (it is 8787) | config.yaml:5:18: serve.listen | such as "127.0.0.1:8787" | serve: { listen: 8787 }',
  '2 | an address of the command line without a host | serve --listen 8787 | must be an address and a port | --listen | such as "127.0.0.1:8787"',
  "2 | nothing to mirror | serve | no resource is left to mirror | include and exclude | see include | resources: { include: [] }",
  "2 | --config names no file | sync --config other.yaml | there is no such file | other.yaml | name yours with --config FILE",
  "2 | --config names a folder | sync -c . | a folder is where a file belongs | the config . cannot be read | name yours with --config FILE",
  "unclosed 2 | a bracket of YAML that is not closed | sync | not valid YAML | config.yaml:3:1 | `fintoro-mirror schema` describes every key",
  "tabbed 2 | a tab in YAML | sync | a tab cannot indent YAML | config.yaml:2:1 | use spaces",
  "doubled 2 | the same company twice | sync | this key is already in the same map | config.yaml:3:3 | keep one of the two",
  "unset 2 | an environment variable that is not set | sync | the environment variable NO_SUCH is not set | config.yaml:2:18: companies.acme.token | set the variable where the program starts",
  "redacted 2 | a redacted column that does not exist | publish | unknown column emial of clients | config.yaml:5:21 | Did you mean email?",
  "proxied 2 | a proxy that is no address | sync | must be a proxy's address | HTTPS_PROXY | such as http://proxy.example.com:3128",
]);
