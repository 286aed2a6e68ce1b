import { mirrorFiles } from "../../config/mirror-files.ts";
import { lockHolder } from "../../store/writer-lock.ts";
import { failFrom, ok, warn, type CheckResult, type CheckSubject } from "./check-result.ts";

export function checkLock({ config, company }: CheckSubject): CheckResult {
  try {
    const holder = lockHolder(mirrorFiles(config, company.name).lock);
    if (holder === null) return ok("lock", "nobody is writing the mirror");
    return warn("lock", `being written by ${holder}`, "a second `sync` beside it ends with exit code 11");
  } catch (error) {
    return failFrom("lock", error);
  }
}
