import type { Db } from "../../store/database.ts";
import { CsvWriter } from "../csv/csv-writer.ts";
import type { Encoder, Job } from "./job.ts";
import { RecordLines, RowLines } from "../jsonl/jsonl-writer.ts";
import { createParquetEncoder } from "../parquet/encoder.ts";
import { PieceReader } from "../columns/row-source.ts";

export function createEncoder(db: Db, job: Job): Encoder {
  const { encoding, source } = job;
  const reader = new PieceReader(db, source);
  switch (encoding.kind) {
    case "parquet":
      return createParquetEncoder(db, reader, source, encoding);
    case "csv":
      return lines(reader, new CsvWriter(encoding.columns, encoding.dialect));
    case "records":
      return lines(reader, new RecordLines());
    case "objects":
      return lines(reader, new RowLines(encoding.columns, encoding.endsInRecord));
    default:
      return encoding satisfies never;
  }
}

interface LineWriter {
  rows: number;
  write(cells: Uint8Array): Uint8Array;
}

function lines(reader: PieceReader, writer: LineWriter): Encoder {
  return {
    make: (range) => {
      const parts: Uint8Array[] = [];
      const before = writer.rows;
      reader.read(range, (cells) => parts.push(new Uint8Array(writer.write(cells))));
      return { parts, groups: [], rows: writer.rows - before };
    },
  };
}
