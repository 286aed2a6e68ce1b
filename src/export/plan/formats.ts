export const formats = ["csv", "parquet", "jsonl"] as const;
export type Format = (typeof formats)[number];

export const partitions = ["year", "month"] as const;
export type Partition = (typeof partitions)[number];
