import { MirrorError } from "../../base/errors.ts";
import { parseEffectiveConfig, secretTexts } from "../../config/companies.ts";
import { levelOf } from "../console/console.ts";
import { soleScope } from "../mirror/company-scope.ts";
import type { CommandRun } from "../program/command-table.ts";
import { worstOutcome } from "../program/exit-code.ts";
import { afterRun } from "../runs/after-run.ts";

/**
 * `serve` runs it as a process of its own, so that a report of millions of rows delays no delivery. The config comes on
 * stdin: the daemon's own, not the one that stands in the file by now.
 */
export const afterRunCommand: CommandRun<"after-run"> = async (context, { options }) => {
  const text = await context.readInput();
  if (text.trim() === "")
    throw new MirrorError("usage", "after-run is for serve, which gives it a config on stdin", {
      hint: "`publish` writes the report, and `export` the files.",
    });
  const config = parseEffectiveConfig(text);
  context.keepSecret(secretTexts(config));
  if (levelOf(context.globals) === null) context.log.setLevel(config.log.level);
  return worstOutcome(await afterRun(soleScope(context, config), options.only));
};
