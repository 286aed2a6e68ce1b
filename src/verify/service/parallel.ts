/** Does `work` for each item, so many at a time. Rejects with the first error, and then begins no more. */
export async function inParallel<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items].toReversed();
  const worker = async () => {
    while (left.length > 0) await work(left.pop() as T);
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, worker));
  } finally {
    left.length = 0;
  }
}
