import { MirrorError } from "../../../base/errors.ts";
import { nearest } from "../../../base/names.ts";
import type { InboxState } from "../../../state/inbox/inbox.ts";
import { text } from "../../program/command-options.ts";

const states: readonly InboxState[] = ["waiting", "done", "kept", "excluded", "unknown", "unreadable"];

export const stateOption = text("--state <state>", `only events in this state: ${states.join(", ")}`);

export function readState(given: string): InboxState {
  const state = states.find((one) => one === given);
  if (state !== undefined) return state;
  const meant = nearest(given, states);
  throw new MirrorError(
    "usage",
    `--state must be one of ${states.join(", ")}${meant === undefined ? "" : `; did you mean "${meant}"?`}`,
  );
}
