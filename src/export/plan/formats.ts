/** File formats of an export. */
export const formats = ["csv", "parquet", "jsonl"] as const;
export type Format = (typeof formats)[number];

/** Periods by which an export can be divided into files. */
export const partitions = ["year", "month"] as const;
export type Partition = (typeof partitions)[number];
