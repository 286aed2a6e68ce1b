/** Where a fact is from: the interface document (`stated`) or the vendor's reference (`published`). */
export type Origin = "stated" | "published";

export type ScalarType = "integer" | "decimal" | "text" | "boolean" | "date" | "timestamp" | "json";

interface FieldFacts {
  readonly origin: Origin;
  /** May be `null`, or be left out. */
  readonly nullable: boolean;
  /** What it means; shown by `schema --tables`. */
  readonly doc?: string;
}

export interface ScalarField extends FieldFacts {
  readonly shape: "scalar";
  readonly type: ScalarType;
  /** Known values; any other is kept, never refused. */
  readonly values?: readonly string[];
  /** The resource whose id this is. */
  readonly references?: string;
}

/** How a field of the API is stored. */
export type Field =
  | ScalarField
  /** A nested record of another resource: stored as `<name>_id`. */
  | (FieldFacts & { readonly shape: "lookup"; readonly resource: string })
  /** A nested object of this record: stored in columns with a prefix. */
  | (FieldFacts & { readonly shape: "snapshot"; readonly fields: Fields })
  /** An array of parts of this record: stored in a child table and replaced as a set. */
  | (FieldFacts & { readonly shape: "children"; readonly table: string; readonly fields: Fields })
  /** An array of full records of a resource without a list of its own, such as payments in a document. */
  | (FieldFacts & { readonly shape: "owned"; readonly resource: string });

/** By field name of the API, in the order of columns. */
export type Fields = Readonly<Record<string, Field>>;
