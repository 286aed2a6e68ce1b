import { MirrorError } from "../base/errors.ts";

/** Between two pieces: whoever is told to stop does, and leaves the files of before. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted)
    throw new MirrorError("stopped", "the export was interrupted: the files of before are whole");
}
