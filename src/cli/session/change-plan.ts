import { EXIT } from '../core/exit-codes.ts'
import { columns } from '../output/columns.ts'
import type { Output } from '../output/output.ts'
import type { Answer } from './pages.ts'
import type { Session } from './session.ts'

type Plan = NonNullable<Answer<'deletePod'>>
interface Row {
  severity: string
  kind: string
  id: string
  what: string
}

const COLUMNS = columns<Row>('severity', 'kind', 'id', 'what')

/**
 * Prints the plans of an operation for each id. The type of an operation with two answers names the one without `dryRun`, hence the cast.
 */
export async function planEach(
  session: Session,
  ids: readonly string[],
  ask: (id: string, query: { dryRun: true }) => Promise<unknown>,
): Promise<number> {
  const plans = await Promise.all(ids.map(async (id) => (await ask(id, { dryRun: true })) as Plan | undefined))
  return printPlans(session.out, plans)
}

/** Whether an answer is a plan, for operations with two answers. */
export function isPlan(answer: unknown): answer is Plan {
  return typeof answer === 'object' && answer !== null && 'effects' in answer && 'refusal' in answer
}

/** Prints plans; returns exit code 5 if the plane would refuse a change. */
export function printPlans(out: Output, plans: readonly (Plan | undefined)[]): number {
  const known = plans.filter((plan) => plan !== undefined)
  const rows = known.flatMap(({ effects }) =>
    effects.map((effect): Row => ({ severity: effect.severity, kind: effect.resource.kind, id: effect.resource.id, what: effect.what })),
  )
  const [first, ...others] = known
  // `--json` prints the fields of a single plan, as of any record, and the effects of several plans.
  if (out.isJson && first !== undefined && others.length === 0) out.record(first)
  else out.list({ plans: known }, rows, { columns: COLUMNS, idOf: ({ id }) => id, empty: 'no effects' })
  const refusals = known.flatMap(({ refusal }) => (refusal === null ? [] : [refusal.detail]))
  for (const detail of refusals) out.talk(`the plane would refuse the change: ${detail}`)
  for (const { kind, id, name } of known.flatMap(({ inTheWay = [] }) => inTheWay))
    out.talk(`blocked by: ${kind} ${id} (${name ?? 'without a name'})`)
  return refusals.length === 0 ? EXIT.OK : EXIT.REFUSED
}
