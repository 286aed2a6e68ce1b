import path from "node:path";
import type { CommandContext, RunningSandbox } from "../program/command.ts";
import type { CommandRun } from "../program/command-table.ts";
import { demoContextOf } from "../demo/demo-steps.ts";
import { setUpDemo } from "../demo/demo-setup.ts";
import { runDemo } from "../demo/story.ts";

/** Faster than the real service, so that a story of hours takes a minute. */
const sandboxOrder = {
  port: 0,
  seed: 7,
  records: "400",
  limit: 100_000,
  windowMs: 60_000,
  latencyMs: 40,
  limiter: undefined,
  faults: undefined,
  retryScale: 0.5,
};

export const demoCommand: CommandRun<"demo"> = async (context, { options }) => {
  const folder = path.resolve(context.cwd, options.out ?? "demo");
  const sandbox = await context.connectors[0].startSandbox(sandboxOrder);
  try {
    return (await play(context, folder, sandbox)) ? "complete" : "failed";
  } finally {
    await sandbox.close();
  }
};

async function play(context: CommandContext, folder: string, sandbox: RunningSandbox): Promise<boolean> {
  const { globals, output, cwd } = context;
  const tell = (line: string) => (globals.json ? Promise.resolve() : output.line(line));
  await tell("A stand-in for the service runs on this machine, with a made-up company of 400 documents.");
  await tell("It answers faster than the real one, which allows 120 requests a minute.\n");
  const { url: baseUrl, token: writeToken, companies } = sandbox;
  const readToken = companies[0]?.readToken ?? writeToken;
  const stage = setUpDemo({ folder, baseUrl, readToken, writeToken });
  try {
    const good = await runDemo(stage, demoContextOf(context, sandbox), tell);
    const { database, report } = stage;
    if (globals.json) await output.json({ database, report, complete: good });
    if (!good) await tell("\nNot everything went as it should: see above.");
    await tell(`\nAll of it is yours to open, in ${folder}`);
    const [mirror, published] = [database, report].map((file) => near(cwd, file));
    await tell(`   sqlite3 ${mirror} "SELECT number, client_name, total_with_vat FROM invoices"`);
    await tell(`   sqlite3 ${published} "SELECT * FROM v_revenue_by_month"`);
    return good;
  } finally {
    await stage.close();
  }
}

/** As it is typed from here. */
function near(cwd: string, file: string): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith("..") ? file : relative;
}
