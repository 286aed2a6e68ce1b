import { isoText, FleetTable } from "../connection.ts";

export interface NodeFacts {
  readonly node: string;
  readonly version: string;
  readonly role: string;
  readonly held: number;
  readonly capacity: number;
}

/** As its last heartbeat says. Times are ISO. */
export interface NodeRow extends NodeFacts {
  readonly draining: boolean;
  readonly started_at: string;
  readonly seen_at: string;
  /** It sends no heartbeats any more: nodes beat at least every 10 s. */
  readonly lost: boolean;
}

const forgetAfter = "interval '1 day'";

/**
 * The nodes of the fleet: for people and for `fleet drain`. Nothing is decided from a missing heartbeat; ownerships
 * expire by themselves.
 *
 * Guarantee: none but what the last heartbeat said.
 * Source of truth: table `nodes`.
 * Worst outcome of a crash: the node is shown with its last heartbeat until it is forgotten.
 */
export class NodesTable extends FleetTable {
  /** A node starts: a request to drain was meant for the process before. */
  async register(facts: NodeFacts): Promise<void> {
    await this.postgres.query(
      `DELETE FROM fintoro_mirror.nodes WHERE seen_at < clock_timestamp() - ${forgetAfter}`,
    );
    await this.write(
      facts,
      "started_at = excluded.started_at, draining = false, version = excluded.version, role = excluded.role,",
    );
  }

  /** A heartbeat. `draining`: the node shall release what it holds and claim nothing more. */
  beat(facts: NodeFacts): Promise<{ readonly draining: boolean }> {
    return this.write(facts, "");
  }

  async remove(node: string): Promise<void> {
    await this.postgres.query("DELETE FROM fintoro_mirror.nodes WHERE node = $1", [node]);
  }

  list(): Promise<NodeRow[]> {
    return this.postgres.query(
      `SELECT node, version, role, held, capacity, draining, ${isoText("started_at")} AS started_at,
         ${isoText("seen_at")} AS seen_at, seen_at < clock_timestamp() - interval '1 minute' AS lost FROM fintoro_mirror.nodes ORDER BY node`,
    );
  }

  /** Asks a node to drain. False: there is no such node. */
  drain(node: string): Promise<boolean> {
    const sql = "UPDATE fintoro_mirror.nodes SET draining = true WHERE node = $1 RETURNING node";
    return this.hasRow(sql, [node]);
  }

  private async write(facts: NodeFacts, more: string): Promise<{ readonly draining: boolean }> {
    const { node, version, role, held, capacity } = facts;
    const row = await this.findRow<{ draining: boolean }>(
      `INSERT INTO fintoro_mirror.nodes (node, version, role, held, capacity, started_at, seen_at)
       VALUES ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp())
       ON CONFLICT (node) DO UPDATE SET ${more} held = excluded.held, capacity = excluded.capacity,
         seen_at = excluded.seen_at RETURNING draining`,
      [node, version, role, held, capacity],
    );
    return row ?? { draining: false };
  }
}
