import { commandsOf } from "../program/command-table.ts";
import { loadModulesOfRun } from "../program/own-process.ts";

const subscriptions = () => import("./webhooks/subscription-commands.ts");
const sandbox = () => import("./sandbox-command.ts");

/** All commands, in the order of help. A new command is a row of the table, a file, and a line here. */
export const commands = commandsOf({
  init: async () => (await import("./init.ts")).initCommand,
  check: async () => (await import("./upkeep/check.ts")).checkCommand,
  demo: async () => (await import("./demo.ts")).demoCommand,
  sync: async () => {
    loadModulesOfRun();
    return (await import("./sync.ts")).syncCommand;
  },
  status: async () => (await import("./status.ts")).statusCommand,
  verify: async () => (await import("./upkeep/verify.ts")).verifyCommand,
  publish: async () => (await import("./output/publish-command.ts")).publishCommand,
  export: async () => (await import("./output/export.ts")).exportCommand,
  package: async () => (await import("./output/package.ts")).packageCommand,
  changes: async () => (await import("./changes.ts")).changesCommand,
  mcp: async () => (await import("./output/mcp.ts")).mcpCommand,
  files: async () => (await import("./upkeep/files.ts")).filesCommand,
  "files check": async () => (await import("./fleet/files-check.ts")).filesCheckCommand,
  serve: async () => (await import("./serve.ts")).serveCommand,
  "webhooks list": async () => (await subscriptions()).listCommand,
  "webhooks create": async () => (await subscriptions()).createCommand,
  "webhooks update": async () => (await subscriptions()).updateCommand,
  "webhooks rotate": async () => (await subscriptions()).rotateCommand,
  "webhooks delete": async () => (await subscriptions()).deleteCommand,
  "webhooks inbox": async () => (await import("./webhooks/inbox-commands.ts")).inboxCommand,
  "webhooks replay": async () => (await import("./webhooks/inbox-commands.ts")).replayCommand,
  worker: async () => (await import("./fleet/worker-command.ts")).workerCommand,
  "fleet add": async () => (await import("./fleet/add-companies.ts")).fleetAddCommand,
  "fleet remove": async () => (await import("./fleet/fleet-commands.ts")).fleetRemoveCommand,
  "fleet list": async () => (await import("./fleet/fleet-commands.ts")).fleetListCommand,
  "fleet status": async () => (await import("./fleet/fleet-commands.ts")).fleetStatusCommand,
  "fleet package": async () => (await import("./fleet/fleet-commands.ts")).fleetPackageCommand,
  "fleet drain": async () => (await import("./fleet/fleet-commands.ts")).fleetDrainCommand,
  "alerts test": async () => (await import("./upkeep/alerts.ts")).alertsTestCommand,
  backup: async () => (await import("./upkeep/backup.ts")).backupCommand,
  restore: async () => (await import("./upkeep/backup.ts")).restoreCommand,
  prune: async () => (await import("./upkeep/prune.ts")).pruneCommand,
  completion: () => Promise.reject(new Error("broken promise: it is answered without config and console")),
  "after-run": async () => (await import("./output/after-run-command.ts")).afterRunCommand,
  schema: async () => (await import("./connector-commands.ts")).schemaCommand,
  sandbox: async () => (await sandbox()).sandboxCommand,
  "sandbox trigger": async () => (await sandbox()).sandboxTriggerCommand,
  "sandbox tick": async () => (await sandbox()).sandboxTickCommand,
  "connector check": async () => (await import("./connector-commands.ts")).connectorCheckCommand,
});
