/** So many at once, in the order they came. */
export interface Turns {
  /** Gives the function that ends the turn; null when the signal came first. */
  take(signal: AbortSignal): Promise<(() => void) | null>;
}

export function createTurns(count: number): Turns {
  const waiting: (() => void)[] = [];
  let free = count;
  const giveBack = () => {
    const next = waiting.shift();
    if (next) next();
    else free++;
  };
  return {
    take: (signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(null);
        if (free > 0) {
          free--;
          return resolve(once(giveBack));
        }
        const leave = () => {
          waiting.splice(waiting.indexOf(enter), 1);
          resolve(null);
        };
        const enter = () => {
          signal.removeEventListener("abort", leave);
          resolve(once(giveBack));
        };
        signal.addEventListener("abort", leave, { once: true });
        waiting.push(enter);
      }),
  };
}

function once(step: () => void): () => void {
  let done = false;
  return () => {
    if (!done) step();
    done = true;
  };
}
