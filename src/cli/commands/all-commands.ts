import type { Command } from "../program/command.ts";
import { lazyCommand as lazy } from "../program/command-table.ts";
import { sandboxCommand } from "./sandbox/sandbox-command.ts";
import { sandboxTickCommand, sandboxTriggerCommand } from "./sandbox/sandbox-traffic.ts";

const subscriptions = () => import("./webhooks/subscription-commands.ts");

/** All commands, in the order of help. A new command is a row of the table, a file, and a line here. */
export const commands: readonly Command[] = [
  lazy("init", async () => (await import("./init.ts")).initCommand),
  lazy("check", async () => (await import("./check.ts")).checkCommand),
  lazy("sync", async () => (await import("./sync.ts")).syncCommand),
  lazy("serve", async () => (await import("./serve.ts")).serveCommand),
  lazy("worker", async () => (await import("./fleet/worker-command.ts")).workerCommand),
  lazy("status", async () => (await import("./status.ts")).statusCommand),
  lazy("alerts test", async () => (await import("./upkeep/alerts-test.ts")).alertsTestCommand),
  lazy("verify", async () => (await import("./verify.ts")).verifyCommand),
  lazy("changes", async () => (await import("./changes.ts")).changesCommand),
  lazy("prune", async () => (await import("./upkeep/prune.ts")).pruneCommand),
  lazy("publish", async () => (await import("./publish-command.ts")).publishCommand),
  lazy("package", async () => (await import("./package.ts")).packageCommand),
  lazy("export", async () => (await import("./export.ts")).exportCommand),
  lazy("files", async () => (await import("./upkeep/files.ts")).filesCommand),
  lazy("files check", async () => (await import("./upkeep/files-check.ts")).filesCheckCommand),
  lazy("backup", async () => (await import("./upkeep/backup.ts")).backupCommand),
  lazy("restore", async () => (await import("./upkeep/restore.ts")).restoreCommand),
  lazy("after-run", async () => (await import("./after-run-command.ts")).afterRunCommand),
  {
    ...lazy("completion", () => Promise.reject(new Error("broken promise: it answers at once"))),
    answer: async (environment, args, tree) =>
      (await import("../completion/answer-completion.ts")).answerCompletion(environment, args, tree),
  },
  lazy("webhooks list", async () => (await subscriptions()).listCommand),
  lazy("webhooks create", async () => (await subscriptions()).createCommand),
  lazy("webhooks update", async () => (await subscriptions()).updateCommand),
  lazy("webhooks rotate", async () => (await subscriptions()).rotateCommand),
  lazy("webhooks delete", async () => (await subscriptions()).deleteCommand),
  lazy("webhooks inbox", async () => (await import("./webhooks/inbox-command.ts")).inboxCommand),
  lazy("webhooks replay", async () => (await import("./webhooks/replay-command.ts")).replayCommand),
  lazy("fleet add", async () => (await import("./fleet/add-companies.ts")).fleetAddCommand),
  lazy("fleet remove", async () => (await import("./fleet/remove-companies.ts")).fleetRemoveCommand),
  lazy("fleet list", async () => (await import("./fleet/list-companies.ts")).fleetListCommand),
  lazy("fleet status", async () => (await import("./fleet/status-command.ts")).fleetStatusCommand),
  lazy("fleet drain", async () => (await import("./fleet/drain-node.ts")).fleetDrainCommand),
  lazy("connector check", async () => (await import("./connector-check.ts")).connectorCheckCommand),
  lazy("schema", async () => (await import("./schema-command.ts")).schemaCommand),
  sandboxCommand,
  sandboxTriggerCommand,
  sandboxTickCommand,
  lazy("demo", async () => (await import("./demo.ts")).demoCommand),
];
