import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Sandbox } from "../sandbox/control.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { runCommand, temporaryFolder, type CommandResult } from "./cli.ts";
import { startService, takenPort, untilTheEnd, type Answering } from "../http/http.ts";

/** A mistake or a mishap, and what the program says of it. */
export interface ErrorRow {
  readonly situation: string;
  /** The command line after the program's name. `{base}` is the service's address, `{busy}` a port that is taken. */
  readonly command: string;
  /** Lines after the token of the only company; a function gives the whole config from the service's address. */
  readonly config?: string | ((baseUrl: string) => string);
  readonly mirror?: true;
  /** A service that answers so, in place of the sandbox. */
  readonly answer?: Answering;
  readonly env?: Environment;
  /** Gives more of the environment, if anything. */
  readonly before?: (place: ErrorPlace) => Environment | void | Promise<Environment | void>;
  readonly exit: number;
  readonly what: string;
  readonly where: string;
  readonly next: string;
}

/** What rows have in common, by the name that begins them. */
export type ErrorSetups = Readonly<Record<string, Partial<ErrorRow>>>;

/** Rows as `setup exit | situation | command | what | where | next | config`; an empty cell is as in the setup, if any. */
export function errorRows(setups: ErrorSetups, lines: readonly string[]): ErrorRow[] {
  return lines.map((line) => {
    const [first = "", situation = "", ...cells] = line.split("|").map((cell) => cell.trim());
    const [, setup = "", exit = ""] = /^([a-z]*) ?(\d*)$/i.exec(first) ?? [];
    const [command = "", what = "", where = "", next = "", more = ""] = cells;
    const row = { exit: exit && Number(exit), command, what, where, next, config: more && `${more}\n` };
    const given = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== ""));
    return { exit: 0, command, what, where, next, ...setups[setup], ...given, situation };
  });
}

type Environment = Readonly<Record<string, string>>;

export interface ErrorPlace {
  readonly at: (name: string) => string;
  readonly write: (name: string, text: string) => void;
  /** Another command there, before the one of the row. */
  readonly run: (command: string) => Promise<CommandResult>;
}

/** What the rows of a table share: the service, and the data folder of a mirror of it. */
export interface ErrorStock {
  readonly sandbox: Sandbox;
  readonly dataFolder: string;
}

export const mirrorName = "data/acme.db";

/** Of every service that is not the sandbox. */
export const rowToken = "1|sk_live_0123456789abcdef";

/** Lines after a token: a service that is away is not waited for. */
export const briefOutage = "http: { patience: 100ms }\n";

export function configOf(baseUrl: string, more = ""): string {
  return `base_url: ${baseUrl}\ncompanies:\n  acme:\n    token: \${env:TOKEN}\n${more}`;
}

export function otherConfig(baseUrl: string): string {
  const company =
    "{ account: acme, contact: a@b.cz, credentials: { client_id: id-01234567, client_secret: secret-01234567 } }";
  return `connector: fakturoid\nbase_url: ${baseUrl}\ncompanies: { acme: ${company} }\n`;
}

/** Runs the row's command in a folder of its own, in this process, as at a terminal. */
export async function runRow(row: ErrorRow, { sandbox, dataFolder }: ErrorStock): Promise<CommandResult> {
  const service = row.answer ? untilTheEnd(await startService(row.answer)) : null;
  const baseUrl = service?.baseUrl ?? sandbox.url;
  const { config = "" } = row;
  const text = typeof config === "string" ? configOf(baseUrl, config) : config(baseUrl);
  const cwd = temporaryFolder({ "config.yaml": text });
  if (row.mirror) cpSync(dataFolder, path.join(cwd, "data"), { recursive: true, mode: 0 });
  const env = { TOKEN: service ? rowToken : sandbox.token, ...row.env };
  const run = (command: string) => {
    const words = command.split(" ").filter((word) => word !== "");
    return runCommand(["--log-format", "pretty", "--no-color", ...words], { cwd, env, clock: systemClock });
  };
  const at = (name: string) => path.join(cwd, name);
  const write = (name: string, content: string) => {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
  };
  Object.assign(env, await row.before?.({ at, write, run }));
  const busy = row.command.includes("{busy}") ? await takenPort() : 0;
  return run(row.command.replace("{base}", baseUrl).replace("{busy}", String(busy)));
}

/** Every answer is this one; a text is a page of HTML. */
export function always(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answering {
  const type = typeof body === "string" ? "text/html" : "application/json";
  return (answer) => {
    answer.writeHead(status, { "content-type": type, "x-request-id": "req-7", ...headers });
    answer.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** The token is of "Acme"; what else is asked for meets `others`. */
export function afterWhoami(others: Answering): Answering {
  const whoami = always(200, { name: "Acme" });
  return (answer, asked, index) => (asked.url.endsWith("/whoami") ? whoami : others)(answer, asked, index);
}
