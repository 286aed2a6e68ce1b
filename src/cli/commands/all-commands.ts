import { lazyCommand as lazy, type Command } from "../program/command.ts";
import { commandTable as table } from "../program/command-table.ts";
import { sandboxCommand } from "./sandbox/sandbox-command.ts";
import { sandboxTickCommand, sandboxTriggerCommand } from "./sandbox/sandbox-traffic.ts";

const subscriptions = () => import("./webhooks/subscription-commands.ts");

/** All commands, in the order of help. A new command is a row of the table, a file, and a line here. */
export const commands: readonly Command[] = [
  lazy(table.check, async () => (await import("./check.ts")).checkCommand),
  lazy(table.sync, async () => (await import("./sync.ts")).syncCommand),
  lazy(table.serve, async () => (await import("./serve.ts")).serveCommand),
  lazy(table.status, async () => (await import("./status.ts")).statusCommand),
  lazy(table.changes, async () => (await import("./changes.ts")).changesCommand),
  lazy(table.publish, async () => (await import("./publish-command.ts")).publishCommand),
  lazy(table.export, async () => (await import("./export.ts")).exportCommand),
  lazy(table.afterRun, async () => (await import("./after-run-command.ts")).afterRunCommand),
  lazy(table.webhooksList, async () => (await subscriptions()).listCommand),
  lazy(table.webhooksCreate, async () => (await subscriptions()).createCommand),
  lazy(table.webhooksUpdate, async () => (await subscriptions()).updateCommand),
  lazy(table.webhooksRotate, async () => (await subscriptions()).rotateCommand),
  lazy(table.webhooksDelete, async () => (await subscriptions()).deleteCommand),
  lazy(table.webhooksInbox, async () => (await import("./webhooks/inbox-command.ts")).inboxCommand),
  lazy(table.webhooksReplay, async () => (await import("./webhooks/replay-command.ts")).replayCommand),
  lazy(table.connectorCheck, async () => (await import("./connector-check.ts")).connectorCheckCommand),
  lazy(table.schema, async () => (await import("./schema-command.ts")).schemaCommand),
  sandboxCommand,
  sandboxTriggerCommand,
  sandboxTickCommand,
  lazy(table.demo, async () => (await import("./demo.ts")).demoCommand),
];
