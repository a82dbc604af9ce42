import type { Column } from '../output/columns.ts'
import type { Output } from '../output/output.ts'
import { EXIT } from './exit-codes.ts'
import type { Answer } from './pages.ts'
import type { Session } from './session.ts'

type Plan = NonNullable<Answer<'deletePod'>>
interface Row {
  severity: string
  kind: string
  id: string
  what: string
}

const COLUMNS: readonly Column<Row>[] = [
  { name: 'severity', of: ({ severity }) => severity },
  { name: 'kind', of: ({ kind }) => kind },
  { name: 'id', of: ({ id }) => id },
  { name: 'what', of: ({ what }) => what },
]

/** Asks a verb for each of these what it would do, and prints it. A verb with two answers is known by the one that it has without `dryRun`. */
export async function planEach(
  session: Session,
  ids: readonly string[],
  ask: (id: string, query: { dryRun: true }) => Promise<unknown>,
): Promise<number> {
  const plans = await Promise.all(ids.map(async (id) => (await ask(id, { dryRun: true })) as Plan | undefined))
  return printPlans(session.out, plans)
}

/** Whether an answer is a plan, where a call has two. */
export function isPlan(answer: unknown): answer is Plan {
  return typeof answer === 'object' && answer !== null && 'effects' in answer && 'refusal' in answer
}

/** Prints what changes would do, as the plane says; one that would be refused is exit code 5. */
export function printPlans(out: Output, plans: readonly (Plan | undefined)[]): number {
  const known = plans.filter((plan) => plan !== undefined)
  const rows = known.flatMap(({ effects }) =>
    effects.map((effect): Row => ({ severity: effect.severity, kind: effect.resource.kind, id: effect.resource.id, what: effect.what })),
  )
  const [first, ...others] = known
  // Of one plan `--json` prints the members, as of any record; of several their effects.
  if (out.isJson && first !== undefined && others.length === 0) out.record(first)
  else out.list({ plans: known }, rows, { columns: COLUMNS, idOf: ({ id }) => id, empty: 'nothing would happen' })
  const refusals = known.flatMap(({ refusal }) => (refusal === null ? [] : [refusal.detail]))
  for (const detail of refusals) out.talk(`it would be refused: ${detail}`)
  for (const { kind, id, name } of known.flatMap(({ inTheWay = [] }) => inTheWay))
    out.talk(`in the way: ${kind} ${id} (${name ?? 'without a name'})`)
  return refusals.length === 0 ? EXIT.OK : EXIT.REFUSED
}
