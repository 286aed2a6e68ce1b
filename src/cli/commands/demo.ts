import path from "node:path";
import { createGovernor } from "../../govern/create-governor.ts";
import { createMemoryStore } from "../../govern/store.ts";
import { createHttp } from "../../http/create-http.ts";
import { command, type CommandContext, type RunningSandbox } from "../command.ts";
import { setUpStage } from "../demo/stage.ts";
import { tellStory, type Scene } from "../demo/story.ts";
import { text } from "../options.ts";

/** Faster than the real service, so that a story of a quarter of an hour takes a minute. */
const sandboxOrder = {
  port: 0,
  seed: 7,
  records: "400",
  limit: 100_000,
  windowMs: 60_000,
  latencyMs: 40,
  limiter: undefined,
  faults: undefined,
};

export const demoCommand = command({
  name: "demo",
  summary: "the story in a minute: a first sync, a crash, a resume, a change; on made-up data",
  options: { out: text("--out <folder>", "where to leave the database (default ./demo)") },
  run: async (context, { options }) => {
    const folder = path.resolve(context.cwd, options.out ?? "demo");
    const sandbox = await context.connectors[0].startSandbox(sandboxOrder);
    try {
      const tell = (line: string) => (context.globals.json ? Promise.resolve() : context.output.line(line));
      await tell("A stand-in for the service runs on this machine, with a made-up company of 400 documents.");
      await tell("It answers faster than the real one, which allows 120 requests a minute.\n");
      const stage = setUpStage(folder, sandbox.url, sandbox.token);
      const good = await tellStory(stage, sceneOf(context, sandbox), tell);
      if (context.globals.json) await context.output.json({ database: stage.database, complete: good });
      await tell(`\nThe mirror is yours to open: ${stage.database}`);
      await tell(
        `   sqlite3 ${path.relative(context.cwd, stage.database)} "SELECT number, client_name, total_with_vat FROM invoices"`,
      );
      return good ? "complete" : "failed";
    } finally {
      await sandbox.close();
    }
  },
});

function sceneOf(context: CommandContext, sandbox: RunningSandbox): Scene {
  const { clock, random, log, version } = context;
  return {
    requests: () => sandbox.requestCount(),
    wait: (ms) => clock.sleep(ms),
    change: async () => {
      const governor = createGovernor({ store: createMemoryStore(), clock });
      const parts = { clock, random, log, governor };
      const address = { baseUrl: sandbox.url, token: sandbox.token, language: "en" };
      const transport = createHttp({ ...parts, ...address, userAgent: `fintoro-mirror/${version}` });
      try {
        return await context.connectors[0].changeSomething(transport);
      } finally {
        await transport.close();
      }
    },
  };
}
