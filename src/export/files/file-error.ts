import { MirrorError } from "../../base/errors.ts";

const known: readonly (readonly [RegExp, string, string])[] = [
  [
    /^(ENOSPC|EDQUOT|EFBIG)$/,
    "the disk is full",
    "Free some space and run it again: the files of before are whole.",
  ],
  [/^(EACCES|EPERM|EROFS)$/, "the folder cannot be written", "Check the owner and mode of the folder."],
  [
    /^(ENOTDIR|EEXIST|EISDIR)$/,
    "something else stands where the files belong",
    "Move it away, or choose another folder.",
  ],
  [/^(EMFILE|ENFILE)$/, "too many files are open", "Raise the limit of open files (`ulimit -n`)."],
  [/^EIO$/, "the disk gave an input/output error", "Check the disk; the files of before are whole."],
];

/** Runs `step`; what the file system refuses comes out as a MirrorError that says what to do. */
export async function guardedFile<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw fileError(path, error);
  }
}

function fileError(path: string, error: unknown): unknown {
  if (error instanceof MirrorError || !(error instanceof Error)) return error;
  const code = "code" in error ? String(error.code) : "";
  const found = known.find(([pattern]) => pattern.test(code));
  if (!found) return error;
  const [, what, hint] = found;
  return new MirrorError("database", `${what}: ${path}`, { hint, retryable: true, cause: error });
}
