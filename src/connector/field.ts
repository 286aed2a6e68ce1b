/** Where a fact is from: the interface document, or the vendor's published reference. */
export type Origin = "stated" | "published";

export type ScalarType = "integer" | "decimal" | "text" | "boolean" | "date" | "timestamp" | "json";

interface FieldFacts {
  readonly origin: Origin;
  /** `null` is among its values, or the field may be left out. */
  readonly nullable: boolean;
  /** What it means, in our words; shown by `schema --tables`. */
  readonly doc?: string;
}

export interface ScalarField extends FieldFacts {
  readonly shape: "scalar";
  readonly type: ScalarType;
  /** Values known today; another one is kept, never refused. */
  readonly values?: readonly string[];
  /** The resource whose id this is. */
  readonly references?: string;
}

/** A nested record of another resource: stored as `<name>_id`, its labels live in that resource's table. */
export interface LookupField extends FieldFacts {
  readonly shape: "lookup";
  readonly resource: string;
}

/** A nested object that belongs to this record: stored as prefixed columns. */
export interface SnapshotField extends FieldFacts {
  readonly shape: "snapshot";
  readonly fields: Fields;
}

/** An array of parts of this record: stored in a child table, replaced as a set. */
export interface ChildrenField extends FieldFacts {
  readonly shape: "children";
  readonly table: string;
  readonly fields: Fields;
}

/** An array of full records of another resource that has no list of its own (payments in a document). */
export interface OwnedField extends FieldFacts {
  readonly shape: "owned";
  readonly resource: string;
}

export type Field = ScalarField | LookupField | SnapshotField | ChildrenField | OwnedField;

/** By the API's field name, in the order of columns. */
export type Fields = Readonly<Record<string, Field>>;
