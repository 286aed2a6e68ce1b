import { sql, type UpdateObject } from "kysely";
import { dayMs } from "../../../base/clock.ts";
import { keptMs, missedMs, type Span } from "../../../state/uptime-log.ts";
import { FleetTable } from "../connection.ts";
import { epochMs, fromNow, isFound, isoText, now } from "../fleet-database.ts";
import type { FleetDatabase, RowOf } from "../fleet-database.ts";

export type NodeFacts = RowOf<"nodes", "node" | "version" | "role" | "held" | "capacity">;

/** As its last heartbeat says. */
export type NodeRow = Readonly<Awaited<ReturnType<NodesTable["list"]>>[number]>;

/**
 * The nodes of the fleet: for people and for `fleet drain`. Nothing is decided from a missing heartbeat; ownerships
 * expire by themselves.
 *
 * Source of truth: table `nodes`.
 * Worst outcome of a crash: the node is shown with its last heartbeat until it is forgotten.
 */
export class NodesTable extends FleetTable {
  /** A node starts: a request to drain was meant for the process before. */
  async register(facts: NodeFacts): Promise<void> {
    await this.db.deleteFrom("nodes").where("seen_at", "<", fromNow(-dayMs)).execute();
    const { version, role } = facts;
    await this.write(facts, { started_at: now, draining: false, version, role });
  }

  /** A heartbeat. `draining`: the node shall release what it holds and claim nothing more. */
  beat(facts: NodeFacts): Promise<{ readonly draining: boolean }> {
    return this.write(facts, {});
  }

  async remove(node: string): Promise<void> {
    await this.db.deleteFrom("nodes").where("node", "=", node).execute();
  }

  /** Times are ISO. */
  list() {
    return this.db
      .selectFrom("nodes")
      .select((eb) => [
        ...(["node", "version", "role", "held", "capacity", "draining"] as const),
        isoText(eb.ref("started_at")).as("started_at"),
        isoText(eb.ref("seen_at")).as("seen_at"),
        // It sends no heartbeats any more: nodes beat at least every 10 s.
        sql<boolean>`${eb.ref("seen_at")} < ${fromNow(-60_000)}`.as("lost"),
      ])
      .orderBy("node")
      .execute();
  }

  /** Asks a node to drain. False: there is no such node. */
  async drain(node: string): Promise<boolean> {
    const asked = this.db.updateTable("nodes").set({ draining: true }).where("node", "=", node);
    return isFound(asked.returning("node"));
  }

  private write(facts: NodeFacts, first: UpdateObject<FleetDatabase, "nodes">) {
    const { node, version, role, held, capacity } = facts;
    return this.db
      .insertInto("nodes")
      .values({ node, version, role, held, capacity, started_at: now, seen_at: now })
      .onConflict((on) => on.column("node").doUpdateSet({ ...first, held, capacity, seen_at: now }))
      .returning("draining")
      .executeTakeFirstOrThrow();
  }
}

/**
 * When at least one receiver of the fleet answered deliveries. A receiver beats every `heartbeatMs` while it can store.
 *
 * Guarantee: a span never covers more than the truth and one heartbeat; times are of Postgres' clock.
 * Source of truth: table `receiving`.
 * Worst outcome of a crash: up to one heartbeat is missing, and a run is made that was not needed.
 */
export class ReceivingTable extends FleetTable {
  /** A receiver's heartbeat: the last span goes on, or after a gap a new one begins. */
  async beat(): Promise<void> {
    const extended = this.db
      .updateTable("receiving")
      .set({ seen_at: now })
      .where("id", "=", (eb) => eb.selectFrom("receiving").select((last) => last.fn.max("id").as("id")))
      .where("seen_at", ">", fromNow(-missedMs));
    if (await isFound(extended.returning("id"))) return;
    // Two receivers that begin at once make two spans, which say the same.
    await this.db.insertInto("receiving").values({ started_at: now, seen_at: now }).execute();
    await this.db.deleteFrom("receiving").where("seen_at", "<", fromNow(-keptMs)).execute();
  }

  /** Spans that end at `sinceMs` or later, the oldest first. */
  spansSince(sinceMs: number): Promise<Span[]> {
    return this.db
      .selectFrom("receiving")
      .select((eb) => [
        epochMs(eb.ref("started_at")).as("startedMs"),
        epochMs(eb.ref("seen_at")).as("seenMs"),
      ])
      .where("seen_at", ">=", sql<Date>`to_timestamp(${sinceMs}::float8 / 1000)`)
      .orderBy("started_at")
      .execute();
  }
}
