import { hash } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { openDatabase } from "../../../src/store/database.ts";
import { openCompany, sync, type Company } from "../../support/company/open-company.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import { mutate, seededChoice } from "../../support/company/scenario.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { companyIn, inconsistencies, inequalities } from "./sync-scenario.ts";

const headerBytes = 32;
const frameHeaderBytes = 24;
/** What a disk writes at once. */
const sectorBytes = 512;

export interface WalCuts {
  readonly transactions: number;
  readonly cuts: number;
  readonly broken: readonly string[];
}

/** Where each transaction of a write-ahead log ends: behind a frame that says how large the database is then. */
function commitsIn(wal: Buffer): number[] {
  const frameBytes = frameHeaderBytes + wal.readUInt32BE(8);
  const ends: number[] = [];
  for (let at = headerBytes; at + frameBytes <= wal.length; at += frameBytes)
    if (wal.readUInt32BE(at + 4) > 0) ends.push(at + frameBytes);
  return ends;
}

/** A mirror in a folder, and the log of a run over it that was never moved into the file. */
async function openLogged(company: Company): Promise<Buffer> {
  await sync(company);
  const choice = seededChoice(seededRandom(5));
  for (let changes = 0; changes < 12; changes++) mutate(company, choice);
  // The last connection that closes moves the log into the file: this one stays open.
  const other = openDatabase(company.file);
  other.prepare("SELECT count(*) FROM _runs").get();
  await sync(company, { allowMassDelete: true, parentsPerRun: "all" });
  const wal = readFileSync(`${company.file}-wal`);
  copyFileSync(company.file, `${company.file}.before`);
  other.close();
  return wal;
}

/**
 * Power loss: the log of a run ends at every 512 bytes of its last transactions. What is there then must be the state
 * after a whole transaction, the last one that fits, sound by itself.
 *
 * @param last how many transactions
 * @param every of which so many, a next run must end equal to the service
 */
export async function cutLog(last: number, every: number): Promise<WalCuts> {
  const company = await openCompany({ records: 2 });
  const folder = mkdtempSync(path.join(memoryFolder(), "fintoro-mirror-wal-"));
  const here = companyIn(company, folder);
  try {
    const wal = await openLogged(company);
    const commits = commitsIn(wal).slice(-last - 1);
    layOut(company, here, wal);
    const { cuts, broken: found } = tryCuts(here.file, commits, wal.length);
    const broken = [...found];
    for (const [index, end] of commits.entries()) {
      layOut(company, here, wal.subarray(0, end + sectorBytes));
      const wrong = await inconsistencies(here);
      if (index % every === 0) wrong.push(...(await completed(here)));
      broken.push(...wrong.map((what) => `after transaction ${index}: ${what}`));
    }
    return { transactions: commits.length - 1, cuts, broken };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await company.close();
  }
}

/** The mirror as it was before the run, with this much of the run's log. */
function layOut(company: Company, here: Company, wal: Buffer): void {
  for (const ending of ["", "-wal", "-shm"]) rmSync(here.file + ending, { force: true });
  copyFileSync(`${company.file}.before`, here.file);
  writeFileSync(`${here.file}-wal`, wal);
}

/** Cuts the log shorter and shorter. */
function tryCuts(file: string, commits: readonly number[], length: number): Omit<WalCuts, "transactions"> {
  const broken: string[] = [];
  const states = new Set<string>();
  let cuts = 0;
  for (const [index, end] of [...commits.entries()].toReversed()) {
    const next = commits[index + 1] ?? length;
    const found = new Set<string>();
    const first = Math.ceil((end + 1) / sectorBytes) * sectorBytes;
    for (let cut = next - (next % sectorBytes || sectorBytes); cut >= first; cut -= sectorBytes, cuts++)
      found.add(stateAt(file, cut));
    const state = stateAt(file, end);
    found.add(state);
    if (found.size > 1) broken.push(`between transactions ${index} and ${index + 1} there is another state`);
    if (states.has(state)) broken.push(`transaction ${index + 1} changed nothing`);
    states.add(state);
  }
  return { cuts, broken };
}

/** The mirror's content with so much of the log; a reader moves nothing of it into the file. */
function stateAt(file: string, walBytes: number): string {
  truncateSync(`${file}-wal`, walBytes);
  rmSync(`${file}-shm`, { force: true });
  const db = openDatabase(file, { readonly: true });
  try {
    return hash("sha1", db.serialize(), "hex");
  } finally {
    db.close();
  }
}

/** What is wrong after the next run. */
async function completed(here: Company): Promise<string[]> {
  const { outcome } = await sync(here, { allowMassDelete: true, parentsPerRun: "all" });
  const wrong = outcome === "complete" ? [] : [`the next run ended: ${outcome}`];
  return [...wrong, ...inequalities(here), ...(await inconsistencies(here))];
}
