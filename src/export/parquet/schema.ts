import type { SchemaElement } from "hyparquet-writer";
import type { NestedColumn } from "./nested.ts";
import { schemaElement, type ParquetColumn } from "./parquet-types.ts";

/** The file's schema: plain columns, then a list of structs for each child table. */
export function fileSchema(
  columns: readonly ParquetColumn[],
  nested: readonly NestedColumn[],
): SchemaElement[] {
  return [
    { name: "schema", num_children: columns.length + nested.length },
    ...columns.map(schemaElement),
    ...nested.flatMap(listElements),
  ];
}

function listElements({ name, columns }: NestedColumn): SchemaElement[] {
  const list = { converted_type: "LIST", logical_type: { type: "LIST" } } as const;
  return [
    { name, repetition_type: "OPTIONAL", num_children: 1, ...list },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    { name: "element", repetition_type: "OPTIONAL", num_children: columns.length },
    ...columns.map((column) => schemaElement({ ...column, nullable: true })),
  ];
}
