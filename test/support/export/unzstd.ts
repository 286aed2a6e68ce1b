import { zstdDecompressSync } from "node:zlib";

/** For hyparquet, which brings only snappy. */
export function decompress(bytes: Uint8Array): Uint8Array {
  return zstdDecompressSync(bytes);
}
