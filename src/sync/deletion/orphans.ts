import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import { recordTarget } from "../../state/work-item.ts";
import { mostOrphans } from "../context/limits.ts";
import { childrenOf, type RunContext } from "../context/run-context.ts";

/**
 * Records of which no parent is there, because the mirror never saw it or it went unnoticed: no parent's list
 * shows them or their end, so they are asked for one by one, once the parents' own list is whole.
 */
export function askForOrphans(session: RunContext, parent: Resource, reading: ReadStamp): void {
  for (const child of childrenOf(session, parent.name)) {
    if (child.list.kind !== "parents") continue;
    const links = child.list.parents.map(({ resource, field }) => ({
      parent: resource,
      column: snakeCase(field),
    }));
    const mine = links.find((link) => link.parent === parent.name);
    if (!mine) continue;
    const { records } = session.mirror;
    for (const id of records.liveWithoutParent(child.name, mine.column, links, mostOrphans)) {
      session.queue.add({
        kind: "confirm",
        resource: child.name,
        target: recordTarget(id),
        lane: "hydration",
        reason: "no parent",
        dirtySeq: reading.receivedSeq,
      });
    }
  }
}
