import { writeFileSync } from "node:fs";
import path from "node:path";
import { readFaults, renderFaults } from "../test/tidy/fault-matrix.ts";
import { projectFolder, readProject } from "../test/tidy/read-source.ts";

/** Writes the fault matrix from the tags in the tests. */
const { faults, complaints } = readFaults(readProject(["test"]));
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
writeFileSync(path.join(projectFolder, "test/FAULTS.md"), renderFaults(faults));
if (complaints.length > 0) process.exitCode = 1;
