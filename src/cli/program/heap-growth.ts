import { setFlagsFromString } from "node:v8";

/**
 * May V8 let the heap grow as it likes? It doubles the young generation whenever enough has survived in it, to 32 MB while
 * the program is loaded; lets the old one grow to four times what is in use; and takes 5 MB in each of four threads that
 * optimize code, for what is inlined. A run has little in use at a time: held, its peak is 40 MB lower. Several threads
 * that collect a young generation of 1 MB cost more than they bring.
 *
 * The flags are the process's, threads included. `bin/start.js` holds the heap while the program is loaded. A Node that
 * was not tried may not know them, and V8 writes an error for each.
 */
export function letHeapGrow(may: boolean): void {
  if (!/^2[24]\./.test(process.versions.node)) return;
  setFlagsFromString(`--semi-space-growth-factor=${may ? 2 : 1}`);
  setFlagsFromString(`--${may ? "" : "no-"}parallel-scavenge`);
  setFlagsFromString(`--heap-growing-percent=${may ? 0 : 30}`);
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${may ? 920 : 200}`);
}
