import type { InboxState } from "../inbox/inbox.ts";
import { Repository } from "../../store/repository.ts";

const states: readonly InboxState[] = ["waiting", "done", "kept", "excluded", "unknown", "unreadable"];

/** The inbox by itself and against the work queue. */
export class InboxCheck extends Repository {
  /** Ids of events that wait for a read that is not queued: nobody would ever make it. */
  lost(most: number): string[] {
    const sql = `SELECT event_id FROM _inbox i WHERE state = 'waiting' AND (dirty_seq IS NULL OR NOT EXISTS
      (SELECT 1 FROM _work w WHERE w.resource = i.resource AND w.target = i.target)) LIMIT ?`;
    return this.selectColumn(sql, most);
  }

  /** Ids of events in a state that does not exist. */
  odd(most: number): string[] {
    const sql = "SELECT event_id FROM _inbox WHERE state NOT IN (SELECT value FROM json_each(?)) LIMIT ?";
    return this.selectColumn(sql, JSON.stringify(states), most);
  }

  /** Ids that are stored more than once (I7). */
  repeated(most: number): string[] {
    return this.selectColumn(
      "SELECT event_id FROM _inbox GROUP BY event_id HAVING count(*) > 1 LIMIT ?",
      most,
    );
  }

  /** Keeps the first of the events with the same id. */
  removeRepeated(): void {
    this.execute("DELETE FROM _inbox WHERE seq NOT IN (SELECT min(seq) FROM _inbox GROUP BY event_id)");
  }
}
