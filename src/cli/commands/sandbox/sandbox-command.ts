import { listenFailure, MirrorError } from "../../../base/errors.ts";
import { formatDuration } from "../../../base/units.ts";
import { printResult } from "../../console/output.ts";
import { command, type RunningSandbox } from "../../program/command.ts";
import { choice, durationMs, text, wholeNumber } from "../../program/option-specs.ts";

export const sandboxCommand = command({
  name: "sandbox",
  summary: "run a stand-in for the service, with made-up data, until it is stopped",
  options: {
    connector: text("--connector <name>", "which service it stands in for (default fintoro)"),
    port: wholeNumber("--port <n>", "port on 127.0.0.1; 0 takes a free one (default 0)", 0, 65_535),
    seed: wholeNumber("--seed <n>", "the same seed makes the same data (default 1)", 0, 4_294_967_295),
    records: text("--records <size>", "small, medium or a number of documents (default small)"),
    limit: wholeNumber("--limit <n>", "requests in a window (default the service's)", 1, 1_000_000),
    windowMs: durationMs("--window <duration>", "length of the window (default 60s)"),
    limiter: choice(
      "--limiter <kind>",
      "how the window behaves",
      ["fixed", "whole_seconds", "hit_time"],
      "fixed",
    ),
    latencyMs: durationMs("--latency <duration>", "wait before every answer (default 0ms)"),
    faults: text("--faults <list>", "what goes wrong how often: 500:0.05,reset:0.01,latency=200"),
    webhookUrl: text("--webhook-url <url>", "sends every event there; this machine is allowed, too"),
    secret: text(
      "--secret <text>",
      "signs what goes to --webhook-url (otherwise one is made up and printed)",
    ),
    webhookFaults: text(
      "--webhook-faults <list>",
      "which share of deliveries: duplicates:0.2,losses:0.1,reorder:0.5",
    ),
  },
  async run({ connectors, output, globals, log, clock, signal }, { options }) {
    if (options.secret !== undefined && options.webhookUrl === undefined)
      throw new MirrorError("usage", "--secret signs what goes to --webhook-url, which is not given");
    if (options.secret?.trim() === "")
      throw new MirrorError("usage", "--secret is empty", {
        hint: "Name a text of your choice, or leave it out: one is made up and printed.",
      });
    const { connector: _chosen, ...request } = options;
    const sandbox = await connectors[0].startSandbox(request).catch((cause: unknown) => {
      throw isListenError(cause) ? listenFailure("127.0.0.1", options.port ?? 0, cause) : cause;
    });
    try {
      const { url, token, access = { token }, companies, webhookSecrets } = sandbox;
      const document = { url, ...access, webhook_secret: webhookSecrets[0], companies };
      await printResult({ globals, output }, document, introduction(sandbox));
      const startedMs = clock.monotonicMs();
      while (!signal.aborted) await clock.sleep(dayMs, signal);
      const after = formatDuration(clock.monotonicMs() - startedMs);
      log.info("the sandbox ends and forgets everything", { after });
    } finally {
      await sandbox.close();
    }
    return "complete";
  },
});

function isListenError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "listen";
}

const dayMs = 86_400_000;

function introduction({ url, token, access, companies, webhookSecrets }: RunningSandbox): string[] {
  const others = companies.slice(1).map((company) => `token of ${company.name}  ${company.token}`);
  const secrets = webhookSecrets.map((secret) => `webhook secret  ${secret}`);
  const own = Object.entries(access ?? { token }).map(([key, value]) => `${key.padEnd(9)} ${value}`);
  return [`base_url  ${url}`, ...own, ...others, ...secrets];
}
