/**
 * One buffer that grows in few large steps: memory that was asked for but not written to is not used,
 * so the peak stays near the size of the content, and a hundred megabytes are not copied again and again.
 */
export interface GrowingBuffer {
  /** False when it would be more than the cap. */
  add(chunk: Uint8Array): boolean;
  whole(): Buffer;
}

const firstBytes = 65_536;
const growth = 16;
/** Smaller results do not keep a larger block alive. */
const copyBelowBytes = 1_048_576;

export function createGrowingBuffer(capBytes: number, sizeBytes: number | null): GrowingBuffer {
  let block: Buffer = Buffer.allocUnsafeSlow(sizeBytes ?? Math.min(firstBytes, capBytes));
  let used = 0;
  return {
    add(chunk) {
      const needed = used + chunk.length;
      if (needed > capBytes) return false;
      if (needed > block.length) block = grown(block, used, needed, capBytes);
      block.set(chunk, used);
      used = needed;
      return true;
    },
    whole() {
      if (used === block.length) return block;
      const content = block.subarray(0, used);
      return used < copyBelowBytes ? Buffer.from(content) : content;
    },
  };
}

function grown(block: Buffer, used: number, needed: number, capBytes: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.min(capBytes, Math.max(needed, block.length * growth)));
  block.copy(larger, 0, 0, used);
  return larger;
}
