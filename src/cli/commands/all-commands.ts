import { lazyCommand as lazy, type Command } from "../program/command.ts";
import { commandTable as table } from "../program/command-table.ts";
import { sandboxCommand } from "./sandbox/sandbox-command.ts";
import { sandboxTickCommand, sandboxTriggerCommand } from "./sandbox/sandbox-traffic.ts";

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
  lazy(table.webhooksList, async () => (await import("./webhooks/list.ts")).webhooksListCommand),
  lazy(table.webhooksCreate, async () => (await import("./webhooks/create.ts")).webhooksCreateCommand),
  lazy(table.webhooksUpdate, async () => (await import("./webhooks/update.ts")).webhooksUpdateCommand),
  lazy(table.webhooksRotate, async () => (await import("./webhooks/rotate.ts")).webhooksRotateCommand),
  lazy(table.webhooksDelete, async () => (await import("./webhooks/delete.ts")).webhooksDeleteCommand),
  lazy(table.webhooksInbox, async () => (await import("./webhooks/inbox-command.ts")).webhooksInboxCommand),
  lazy(
    table.webhooksReplay,
    async () => (await import("./webhooks/replay-command.ts")).webhooksReplayCommand,
  ),
  lazy(table.connectorCheck, async () => (await import("./connector-check.ts")).connectorCheckCommand),
  lazy(table.schema, async () => (await import("./schema-command.ts")).schemaCommand),
  sandboxCommand,
  sandboxTriggerCommand,
  sandboxTickCommand,
  lazy(table.demo, async () => (await import("./demo.ts")).demoCommand),
];
