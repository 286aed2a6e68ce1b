import { assert } from "../../base/errors.ts";
import type { ExportConfig } from "../../config/config.ts";
import { formatScalar } from "../../config/yaml.ts";

/** What a new config says besides the defaults. */
export interface ConfigChoices {
  readonly baseUrl: string;
  /** The name of its one company. */
  readonly company: string;
  /** `${env:NAME}` or `${file:/path}` */
  readonly token: string;
  /** Where events are received; null: nowhere. */
  readonly webhook: { readonly secret: string; readonly publicUrl: string } | null;
  /** A cron pattern, or `off`. */
  readonly schedule: string;
  readonly exports: readonly ExportConfig["format"][];
  readonly pdf: boolean;
  readonly attachments: boolean;
}

/** The commented example with these choices in their places. Pure. */
export function configText(example: string, choices: ConfigChoices): string {
  const { baseUrl, schedule, exports, pdf, attachments } = choices;
  const files = `{ pdf: ${pdf ? "on" : "off"}, attachments: ${attachments ? "on" : "off"} }`;
  const steps: [RegExp, string][] = [
    [/^base_url: \S+/m, `base_url: ${formatScalar(baseUrl)}`],
    [/^companies:\n(?:[ \t].*\n)*/m, companySection(choices)],
    [/^ {2}sync: (?:"[^"]*"|\S+)/m, `  sync: ${formatScalar(schedule)}`],
    [/^files: \{[^}]*\}/m, `files: ${files}`],
  ];
  if (exports.length > 0) steps.push([/^exports: \[\].*$/m, exportSection(exports)]);
  return steps.reduce((text, [place, replacement]) => {
    assert(place.test(text), `the example has a place for ${replacement}`);
    return text.replace(place, () => replacement);
  }, example);
}

function companySection({ company, token, webhook }: ConfigChoices): string {
  const lines = [
    "companies:",
    `  ${formatScalar(company)}: # a name of your choice; the mirror is <data_dir>/${company}.db`,
    `    token: ${formatScalar(token)} # reading is all it must be allowed`,
  ];
  if (webhook)
    lines.push(
      "    webhook:",
      `      secrets: [${JSON.stringify(webhook.secret)}] # the old and the new one during a rotation`,
      `      public_url: ${formatScalar(webhook.publicUrl)}`,
    );
  return `${lines.join("\n")}\n`;
}

function exportSection(formats: readonly string[]): string {
  return [
    "exports:",
    ...formats.map((format) => `  - { format: ${format}, out: ./reports, after: sync }`),
  ].join("\n");
}
