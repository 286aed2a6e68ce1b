import type { Command } from "../program/command.ts";
import { afterRunCommand } from "./after-run-command.ts";
import { changesCommand } from "./changes.ts";
import { checkCommand } from "./check.ts";
import { connectorCheckCommand } from "./connector-check.ts";
import { demoCommand } from "./demo.ts";
import { exportCommand } from "./export.ts";
import { publishCommand } from "./publish-command.ts";
import { sandboxTickCommand } from "./sandbox/sandbox-tick.ts";
import { sandboxTriggerCommand } from "./sandbox/sandbox-trigger.ts";
import { sandboxCommand } from "./sandbox/sandbox-command.ts";
import { schemaCommand } from "./schema-command.ts";
import { serveCommand } from "./serve.ts";
import { statusCommand } from "./status.ts";
import { syncCommand } from "./sync.ts";
import { webhooksCreateCommand } from "./webhooks/create.ts";
import { webhooksDeleteCommand } from "./webhooks/delete.ts";
import { webhooksInboxCommand } from "./webhooks/inbox-command.ts";
import { webhooksListCommand } from "./webhooks/list.ts";
import { webhooksReplayCommand } from "./webhooks/replay-command.ts";
import { webhooksRotateCommand } from "./webhooks/rotate.ts";
import { webhooksUpdateCommand } from "./webhooks/update.ts";

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
