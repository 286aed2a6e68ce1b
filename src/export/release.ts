/**
 * Gives the memory behind bytes back at once: left to the collector, each thread would hold 64 MB of pieces
 * that nobody needs, because it counts objects and these are few. Whatever shares the memory is empty, too;
 * what is small may be Node's common pool, and stays.
 */
const pooledBytes = 65_536;

export function release(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength > pooledBytes) buffer.transfer(0);
}
