import type { FuzzTarget } from "./fuzz-target.ts";
import { answerTargets } from "./answers.ts";
import { configTargets } from "./config.ts";
import { exportTargets } from "./export.ts";
import { growthTargets } from "./growth.ts";
import { jsonTargets } from "./json.ts";
import { queryTargets } from "./queries.ts";
import { receiverTargets } from "./receiver.ts";
import { signatureTargets } from "./signature.ts";

/** All of them: the tests run each once with a fixed seed, `npm run fuzz` for as long as it is asked to. */
export const allTargets: readonly FuzzTarget[] = [
  answerTargets,
  configTargets,
  exportTargets,
  growthTargets,
  jsonTargets,
  queryTargets,
  receiverTargets,
  signatureTargets,
].flatMap((targets) => Object.values<FuzzTarget>(targets));
