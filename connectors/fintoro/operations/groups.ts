import type { Operation } from "../../../src/connector/operation.ts";
import { documentOperations } from "./document-operations.ts";
import type { Unnamed } from "./operation-builders.ts";
import { recordOperations } from "./record-operations.ts";

type Named<G> = {
  readonly [K in keyof G]: { readonly [M in keyof G[K]]: G[K][M] & Pick<Operation, "name"> };
};

function named<G extends Readonly<Record<string, Readonly<Record<string, Unnamed>>>>>(groups: G): Named<G> {
  const entries = Object.entries(groups).map(([group, operations]) => {
    const members = Object.entries(operations);
    return [
      group,
      Object.fromEntries(members.map(([key, one]) => [key, { ...one, name: `${group}.${key}` }])),
    ];
  });
  return Object.fromEntries(entries) as Named<G>;
}

export const operationGroups = named({ ...recordOperations, ...documentOperations });
