/** A process of its own that takes the writer lock, says so, and holds it until it is killed. */
import { takeWriterLock } from "../../../src/store/writer-lock.ts";

const lock = takeWriterLock(process.argv[2] ?? "", "sync");
console.log("held");
process.stdin.resume();
process.stdin.on("end", () => lock.release());
