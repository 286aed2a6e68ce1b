import type { Command } from "./command.ts";
import { afterRunCommand } from "./commands/after-run.ts";
import { changesCommand } from "./commands/changes.ts";
import { checkCommand } from "./commands/check.ts";
import { connectorCheckCommand } from "./commands/connector-check.ts";
import { demoCommand } from "./commands/demo.ts";
import { exportCommand } from "./commands/export.ts";
import { publishCommand } from "./commands/publish.ts";
import { sandboxTickCommand, sandboxTriggerCommand } from "./commands/sandbox-traffic.ts";
import { sandboxCommand } from "./commands/run-sandbox.ts";
import { schemaCommand } from "./commands/schema.ts";
import { serveCommand } from "./commands/serve.ts";
import { statusCommand } from "./commands/status.ts";
import { syncCommand } from "./commands/sync.ts";
import { webhooksCreateCommand } from "./commands/webhooks/create.ts";
import { webhooksDeleteCommand } from "./commands/webhooks/delete.ts";
import { webhooksInboxCommand } from "./commands/webhooks/inbox.ts";
import { webhooksListCommand } from "./commands/webhooks/list.ts";
import { webhooksReplayCommand } from "./commands/webhooks/replay.ts";
import { webhooksRotateCommand } from "./commands/webhooks/rotate.ts";
import { webhooksUpdateCommand } from "./commands/webhooks/update.ts";

/** In the order of help. A new command is one file and one line here. */
export const commands: readonly Command[] = [
  checkCommand,
  syncCommand,
  serveCommand,
  statusCommand,
  changesCommand,
  publishCommand,
  exportCommand,
  afterRunCommand,
  webhooksListCommand,
  webhooksCreateCommand,
  webhooksUpdateCommand,
  webhooksRotateCommand,
  webhooksDeleteCommand,
  webhooksInboxCommand,
  webhooksReplayCommand,
  connectorCheckCommand,
  schemaCommand,
  sandboxCommand,
  sandboxTriggerCommand,
  sandboxTickCommand,
  demoCommand,
];
