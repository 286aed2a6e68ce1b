import type { Db } from "../../store/database.ts";
import { insertRow, selectRows } from "../../store/own-tables/statement.ts";
import type { MirrorMoment } from "./moment.ts";

/** A package of a month that was made: what it showed, and the hashes of its files by their path. */
export interface HandOver extends MirrorMoment {
  readonly month: string;
  /** Who asked. */
  readonly command: string;
  readonly files: Readonly<Record<string, string>>;
}

/** The hand-overs of a month in their order, in table `_hand_overs`. */
export function handOversOf(db: Db, month: string): HandOver[] {
  const columns = ["month", "position", "log", "at", "command", "files", "id"] as const;
  return selectRows(db, "_hand_overs", columns, { month }, "id").map(({ position: seq, files, ...row }) => ({
    ...row,
    seq,
    files: JSON.parse(files) as HandOver["files"],
  }));
}

export function recordHandOver(db: Db, { seq: position, files, ...row }: HandOver): void {
  insertRow(db, "_hand_overs", { ...row, position, files: JSON.stringify(files) });
}
