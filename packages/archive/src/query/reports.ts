import type { MemberFileProblem, MemberReport, MembershipState } from '@porthole/contract';
import { type ArchivedNode, shippedTo } from './archived-nodes.ts';
import type { PreparedQuery } from './prepare-query.ts';
import type { DecodedRow } from './row-columns.ts';

/** Problems of more nodes and logs are not reported one by one. */
const MAX_PROBLEMS = 100;

/** What was found of each node, and what is wrong with its rows. */
export class NodeTally {
  readonly #counts = new Map<string, number>();
  readonly #problems = new Map<string, MemberFileProblem & { rows: number }>();

  add(node: string, count = 1): void {
    this.#counts.set(node, (this.#counts.get(node) ?? 0) + count);
  }

  note({ row: { node, log }, problem }: DecodedRow): void {
    if (problem === undefined) return;
    const key = JSON.stringify([node, log]);
    const known = this.#problems.get(key);
    if (known) known.rows++;
    else if (this.#problems.size < MAX_PROBLEMS)
      this.#problems.set(key, { node, file: log, code: 'ARCHIVE_ROW_INVALID', detail: problem, rows: 1 });
  }

  problems(): MemberFileProblem[] {
    return [...this.#problems.values()].map(({ rows, detail, ...problem }) => ({
      ...problem,
      detail: rows === 1 ? `an archived row is not valid: ${detail}` : `${rows} archived rows are not valid: ${detail}`,
    }));
  }

  /** One per selected node, by id. */
  reports({ nodes, run }: PreparedQuery, covered: { fromMs: number; toMs: number } | null): MemberReport[] {
    const known = new Map(nodes.map((node) => [node.node, node]));
    const damaged = new Map([...this.#problems.values()].map((problem) => [problem.node, problem]));
    return [...new Set([...known.keys(), ...this.#counts.keys()])].sort().map((id): MemberReport => {
      const problem = damaged.get(id);
      const detail = run.isOver ? 'the archive was not read to the end: time budget' : (problem?.detail ?? null);
      return {
        id,
        outcome: 'ok',
        detail,
        elapsedMs: run.elapsedMs,
        count: this.#counts.get(id) ?? 0,
        asOfMs: asOf(known.get(id)),
        ...(detail !== null && { isPartial: true }),
        coveredFromMs: covered?.fromMs ?? null,
        coveredToMs: covered?.toMs ?? null,
      };
    });
  }
}

function asOf(node: ArchivedNode | undefined): number | null {
  return node ? shippedTo(node) : null;
}

/** The archive has no members: who has shipped is what it knows. */
export function archiveMembership({ nowMs }: PreparedQuery): MembershipState {
  return { kind: 'static', state: 'ok', detail: null, asOfMs: nowMs };
}
