import type { Operation } from "../../../src/connector/operation.ts";
import { documentOperations } from "./document-operations.ts";
import type { Unnamed } from "./operation-builders.ts";
import { recordOperations } from "./record-operations.ts";

/** Groups and operations that the interface document states; the others are from the vendor's reference. */
const stated = new Set(
  `token lookups numericalSeries subjects bankAccounts.delete businessCaseStatuses.show contactActivityLogs.list
  contactActivityAttachments.upload warehouseInboundReceipts.delete warehouseOutboundReceipts.pdf
  webhookSubscriptions.delete invoices.pdf quotations.pdf`.split(/\s+/),
);

type Named<G> = {
  readonly [K in keyof G]: {
    readonly [M in keyof G[K]]: G[K][M] & Pick<Operation, "name" | "origin">;
  };
};

function named<G extends Readonly<Record<string, Readonly<Record<string, Unnamed>>>>>(groups: G): Named<G> {
  const entries = Object.entries(groups).map(([group, operations]) => {
    const members = Object.entries(operations).map(([key, operation]): [string, Operation] => {
      const name = `${group}.${key}`;
      const origin = stated.has(group) || stated.has(name) ? "stated" : "published";
      return [key, { ...operation, name, origin }];
    });
    return [group, Object.fromEntries(members)];
  });
  return Object.fromEntries(entries) as Named<G>;
}

export const operationGroups = named({ ...recordOperations, ...documentOperations });
