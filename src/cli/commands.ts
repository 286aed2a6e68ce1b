import type { Command } from "./command.ts";
import { checkCommand } from "./commands/check.ts";
import { connectorCheckCommand } from "./commands/connector-check.ts";
import { sandboxCommand } from "./commands/sandbox.ts";
import { schemaCommand } from "./commands/schema.ts";

/** In the order of help. A new command is one file and one line here. */
export const commands: readonly Command[] = [
  checkCommand,
  connectorCheckCommand,
  schemaCommand,
  sandboxCommand,
];
