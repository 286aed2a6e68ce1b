import type { Semaphore } from "../../base/semaphore.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import type { CompanySupervisor } from "../../host/company-supervisor.ts";
import type { HostContext } from "../../host/host-context.ts";
import type { RequestGuard } from "../../runs/service-connection.ts";
import { HandOverCounts, handOversOf } from "../../state/as-of/hand-overs.ts";
import type { Lease } from "../ownership/ownership.ts";
import type { PackageFailure } from "../postgres/fleet-database.ts";
import type { AskedPackage } from "../postgres/tables/packages-table.ts";
import type { NodeContext } from "./node-context.ts";

type PackageContext = Pick<NodeContext, "tables" | "publish" | "packagePlaces" | "cutOff">;

/**
 * Makes the packages of months that were asked for of a company, one at a time, beside its events and scrubs.
 *
 * Guarantee: a name in the store never gets another content: within an epoch no number comes twice. A package counts as
 * made when it is stored and read back, and a published snapshot has its hand-over.
 * Source of truth: table `packages`.
 * Worst outcome of a crash: the next owner makes it again; a file that no row names may stay in the store.
 */
export function createMonthPackages(
  lease: Lease,
  { tables: { packages }, publish, packagePlaces, cutOff }: PackageContext,
  { log }: Pick<HostContext, "log">,
  guard: RequestGuard,
  supervisor: Pick<CompanySupervisor, "opened" | "progress" | "settings">,
  publishMirror: () => Promise<boolean>,
  /** Of whoever writes the company's files. */
  filesTurn: Semaphore,
) {
  const { company, epoch } = lease;
  const stopping = new AbortController();
  const signal = AbortSignal.any([lease.lost, cutOff, stopping.signal]);
  /** What was asked for before the claim is not known yet. */
  let isAsked = true;
  let making: Promise<void> | null = null;
  let stored = 0;
  const fail = (asked: AskedPackage, reason: PackageFailure, error: string): Promise<void> => {
    log.warn("a month could not be packed; it is tried again", { month: asked.month, reason, error });
    return packages.fail(lease, asked, reason, error);
  };
  /** Has no document of the month changed since what was made was handed over, and is that all that is asked for? */
  const isUnchanged = ({ month, proved, made }: AskedPackage): boolean => {
    const db = supervisor.opened?.mirror.db;
    if (!db || made === null || made.without_pdf.length > 0 || (proved && !made.proved)) return false;
    const last = handOversOf(db, month).at(-1);
    if (last?.log !== made.log || last.seq > made.position) return false;
    const [since] = new HandOverCounts().read(db, supervisor.settings.declaration, month);
    // What was pruned may have been of the month.
    return since?.changed === 0 && !since.pruned;
  };
  const make = async (asked: AskedPackage): Promise<void> => {
    if (isUnchanged(asked)) return packages.finish(lease, asked, null);
    const { month } = asked;
    const key = `packages/${month}/${company}/${company}-${month}-${epoch}-${++stored}.zip`;
    const made = await publish.month(supervisor.settings, asked, lease, guard, signal, key);
    if (typeof made === "string") return fail(asked, "not_proved", made);
    if (!(await publishMirror()))
      throw new MirrorError("database", "the snapshot with its hand-over could not be published");
    await packages.finish(lease, asked, made);
    log.info("a month was packed", { key, bytes: made.bytes });
  };
  const makeDue = async (): Promise<void> => {
    for (let asked = await packages.next(company); asked; asked = await packages.next(company)) {
      using place = await packagePlaces.acquire(signal);
      using own = place && (await filesTurn.acquire(signal));
      if (!own) return;
      try {
        await make(asked);
      } catch (error) {
        if (signal.aborted) return;
        await fail(asked, reasonOf(error), messageOf(error));
      }
    }
  };
  return {
    ask: () => void (isAsked = true),
    isMaking: () => making !== null,
    isPending: () => isAsked || making !== null,
    /** To be called now and then: begins when no run is under way, or its scrub alone, which may last for hours. */
    makeIfAsked: () => {
      const run = supervisor.progress();
      if (!isAsked || making || (run && !run.scrub)) return;
      isAsked = false;
      making = makeDue()
        .catch((error: unknown) => log.warn("no month can be packed now", { error: messageOf(error) }))
        .finally(() => (making = null));
    },
    /** Resolves when nothing is made any more. What is not finished stays due. */
    stop: async () => {
      stopping.abort();
      await making;
    },
  };
}

function reasonOf(error: unknown): PackageFailure {
  const kind = error instanceof MirrorError ? error.kind : null;
  return kind === "unauthenticated" || kind === "identity" ? "token_refused" : "failed";
}
