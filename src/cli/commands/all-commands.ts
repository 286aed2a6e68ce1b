import { lazyCommand as lazy, type Command } from "../program/command.ts";
import { commandTable as table } from "./command-table.ts";
import { sandboxCommand } from "./sandbox/sandbox-command.ts";
import { sandboxTickCommand } from "./sandbox/sandbox-tick.ts";
import { sandboxTriggerCommand } from "./sandbox/sandbox-trigger.ts";

/** In the order of help. A new command is a row of the table, a file, and a line here. */
export const commands: readonly Command[] = [
  lazy(table.check, async () => (await import("./check.ts")).check),
  lazy(table.sync, async () => (await import("./sync.ts")).sync),
  lazy(table.serve, async () => (await import("./serve.ts")).serve),
  lazy(table.status, async () => (await import("./status.ts")).status),
  lazy(table.changes, async () => (await import("./changes.ts")).changes),
  lazy(table.publish, async () => (await import("./publish-command.ts")).publish),
  lazy(table.export, async () => (await import("./export.ts")).exportCommand),
  lazy(table.afterRun, async () => (await import("./after-run-command.ts")).afterRunCommand),
  lazy(table.webhooksList, async () => (await import("./webhooks/list.ts")).list),
  lazy(table.webhooksCreate, async () => (await import("./webhooks/create.ts")).create),
  lazy(table.webhooksUpdate, async () => (await import("./webhooks/update.ts")).update),
  lazy(table.webhooksRotate, async () => (await import("./webhooks/rotate.ts")).rotate),
  lazy(table.webhooksDelete, async () => (await import("./webhooks/delete.ts")).remove),
  lazy(table.webhooksInbox, async () => (await import("./webhooks/inbox-command.ts")).inbox),
  lazy(table.webhooksReplay, async () => (await import("./webhooks/replay-command.ts")).replay),
  lazy(table.connectorCheck, async () => (await import("./connector-check.ts")).connectorCheck),
  lazy(table.schema, async () => (await import("./schema-command.ts")).schema),
  sandboxCommand,
  sandboxTriggerCommand,
  sandboxTickCommand,
  lazy(table.demo, async () => (await import("./demo.ts")).demo),
];
