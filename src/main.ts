import { existsSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { knownFakturoid } from "../connectors/fakturoid/known.ts";
import { knownFintoro } from "../connectors/fintoro/known.ts";
import { systemClock } from "./base/clock.ts";
import { MirrorError, valueOr } from "./base/errors.ts";
import { systemRandom } from "./base/random.ts";
import type { ConnectorEntry, SandboxRequest } from "./cli/program/command.ts";
import { commands } from "./cli/commands/all-commands.ts";
import { terminalPrompts } from "./cli/console/prompts.ts";
import { sandboxCommands } from "./cli/program/serving-commands.ts";
import { createInvocation } from "./cli/program/invocation.ts";

/**
 * The composition root and the process's entry: the real clock, streams and connector, handed to one
 * invocation. The connector's code is imported when a command needs it.
 */
const fintoro: ConnectorEntry = {
  ...knownFintoro,
  load: async () => ({
    declaration: (await import("../connectors/fintoro/declaration.ts")).declaration,
    startSandbox,
  }),
};

const fakturoid: ConnectorEntry = {
  ...knownFakturoid,
  load: async () => ({
    declaration: (await import("../connectors/fakturoid/declaration.ts")).fakturoid,
    startSandbox: startStandIn,
  }),
};

const invocation = createInvocation({
  argv: process.argv.slice(2),
  env: process.env,
  // A folder that was removed has no name any more but in the shell.
  cwd: valueOr(() => process.cwd(), process.env["PWD"] ?? "/"),
  stdout: process.stdout,
  stderr: process.stderr,
  signals: process,
  readInput: () => text(process.stdin),
  endNow: (code) => process.exit(code),
  openPrompts: process.stdin.isTTY && process.stderr.isTTY ? openPrompts : undefined,
  exampleConfig: () => readFileSync(new URL("../config.example.yaml", import.meta.url), "utf8"),
  clock: systemClock,
  random: systemRandom,
  version: ownVersion(),
  commands,
  connectors: [fintoro, fakturoid],
});

// Node would open its inspector, through which another user can read every secret.
process.on("SIGUSR1", () => undefined);
// What is made holds accounting data: files get the mode 0600. What is there keeps its mode.
process.umask(0o077);

const failHard = async (error: unknown) => process.exit(await invocation.fail(error));
process.on("uncaughtException", (error) => void failHard(error));
process.on("unhandledRejection", (error) => void failHard(error));
process.stderr.on("error", () => undefined);

process.exitCode = await invocation.run();

function openPrompts(signal: AbortSignal, colour: boolean) {
  // The prompts' library looks nowhere else.
  if (!colour) process.env["NO_COLOR"] = "1";
  const terminal = { input: process.stdin, output: process.stderr, signal };
  // As Ctrl-C does where the terminal sends signals.
  return terminalPrompts(terminal, () => process.emit("SIGINT"));
}

/** Starts the stand-in service; its code is imported for commands that start one. */
async function startSandbox({ faults, webhookUrl: url, secret, webhookFaults, ...rest }: SandboxRequest) {
  const { startSandbox: start } = await import("../connectors/fintoro/sandbox/sandbox.ts");
  const { parseFaults } = await import("../connectors/fintoro/sandbox/service/faults.ts");
  const { parseShares } = await import("../connectors/fintoro/sandbox/webhooks/sender.ts");
  const sandbox = await start({
    ...rest,
    allowLoopbackWebhooks: true,
    faults: parseFaults(faults ?? ""),
    webhooks: url === undefined ? [] : [{ url, secret }],
    deliveries: parseShares(webhookFaults ?? ""),
  });
  return {
    ...sandbox,
    requestCount: () => sandbox.requests().length,
    attempts: () => sandbox.control.webhooks.history(),
    changes: () => sandbox.control.demoChanges(),
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

/** The same for Fakturoid. Its stand-in makes no faults, and no changes: there is no event to send. */
async function startStandIn(request: SandboxRequest) {
  const { port, seed, limit, windowMs, records: invoices } = request;
  const obeyed = new Set(["records", "port", "seed", "limit", "windowMs"]);
  const asked: Readonly<Record<string, unknown>> = request;
  const others = Object.entries(sandboxCommands.sandbox.options).filter(
    ([name, { usual }]) => !obeyed.has(name) && (asked[name] ?? usual) !== usual,
  );
  const flags = others.map(([, option]) => option.flags.split(" ")[0]);
  if (flags.length > 0)
    throw new MirrorError("usage", `the stand-in for Fakturoid has no ${flags.join(", ")}`, {
      hint: "Leave it out; that of the connector fintoro has it.",
    });
  const { startStandIn: start } = await import("../connectors/fakturoid/sandbox/stand-in.ts");
  const standIn = await start({ port, seed, limit, windowMs, invoices });
  return {
    url: standIn.url,
    access: standIn.access,
    token: "",
    companies: [],
    webhookSecrets: [],
    requestCount: () => standIn.visits.length,
    attempts: () => [],
    changes: () => [],
    [Symbol.asyncDispose]: () => standIn.close(),
  };
}

/** The version in package.json: one folder up, from the source and from the built file. */
function ownVersion(): string {
  const file = new URL("../package.json", import.meta.url);
  const { version } = JSON.parse(existsSync(file) ? readFileSync(file, "utf8") : "{}") as {
    version?: string;
  };
  return version ?? "unknown";
}
