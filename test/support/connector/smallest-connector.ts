import * as t from "../../../src/connector/record-schema.ts";
import type { ConnectorDeclaration } from "../../../src/connector/connector-declaration.ts";
import { defineResource } from "../../../src/connector/resource.ts";

const parcel = t.record({
  id: t.integer(),
  code: t.text(),
  weight: t.orNull(t.decimal()),
  updated_at: t.timestamp(),
});

const parcels = defineResource({
  name: "parcels",
  title: "Parcels",
  record: parcel,
  list: {
    kind: "walked",
    path: "/parcels",
    pageSize: 40,
    changes: { since: "updated_since", stamp: "updated_at", overlapMs: 3_600_000 },
  },
  detail: "/parcels/{id}",
});

const depot = defineResource({
  name: "depot",
  singular: "depot",
  title: "Depot",
  record: t.record({ name: t.text() }),
  list: { kind: "single", path: "/depot" },
});

export const smallest: ConnectorDeclaration = {
  name: "parcels",
  title: "Parcels",
  baseUrl: "https://parcels.example/api",
  limits: { requests: 100, windowMs: 60_000 },
  languages: ["en"],
  resources: [depot, parcels],
  events: [],
  cascades: [],
  identity: {
    resource: "depot",
    nameField: "name",
    businessIdColumn: "code",
    businessIdIn: [],
    proofs: [{ field: "code", resources: ["parcels"] }],
  },
  operations: [],
};
