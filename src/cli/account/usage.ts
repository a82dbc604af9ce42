import { usage } from '../core/failure.ts'
import { type Column, columns } from '../output/columns.ts'
import type { Answer } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

const DAY_MS = 86_400_000

/** Prints charges by day or by kind of resource. Throws a usage error if a flag is invalid. */
export async function printUsage(session: Session, flags: { by: string; days: string }): Promise<void> {
  const { by } = flags
  const days = Number(flags.days)
  if (!Number.isInteger(days) || days < 1) throw usage('--days: it must be a whole number from 1')
  const { api, io } = session
  const query = { bucketSize: 'day', startTime: new Date(io.nowMs() - (days - 1) * DAY_MS).toISOString() }
  if (by === 'day') return print(session, await api.listBilling({ query }))
  if (by === 'pod') return print(session, await api.listPodBilling({ query }))
  if (by === 'endpoint') return print(session, await api.listServerlessBilling({ query }))
  if (by === 'cluster') return print(session, await api.listClusterBilling({ query }))
  if (by === 'volume') return print(session, await api.listNetworkVolumeBilling({ query }))
  throw usage('--by: it must be day, pod, endpoint, cluster or volume')
}

/** A bill has one list; its columns are the fields of the first record that are not nested. */
function print(session: Session, answer: object): void {
  const rows = (Object.values(answer).find(Array.isArray) ?? []) as Record<string, unknown>[]
  const names = Object.entries(rows[0] ?? {}).flatMap(([name, value]) => (typeof value === 'object' && value !== null ? [] : [name]))
  const shown = names.map(
    (name): Column<Record<string, unknown>> => ({ name, of: (row) => row[name], ...(name.endsWith('Amount') && { as: 'usd' }) }),
  )
  session.out.list(answer, rows, { columns: shown, idOf: (row) => String(row.startTime ?? ''), empty: 'no charges' })
}

type Item = Answer<'getSpend'>['items'][number]

/** Prints the resources that cost money, most expensive first. */
export async function printSpend(session: Session): Promise<void> {
  const answer = await session.api.getSpend()
  const shown: Column<Item>[] = [
    ...columns<Item>('kind', 'id', 'name'),
    { name: 'perHour', of: ({ perHour }) => perHour, as: 'usdPerHour' },
    { name: 'today', of: ({ costToday }) => costToday, as: 'usd' },
    { name: 'thisMonth', of: ({ costThisMonth }) => costThisMonth, as: 'usd' },
    { name: 'idleSince', of: ({ idleSince }) => idleSince, as: 'time' },
    { name: 'idleWaste', of: ({ idleWaste }) => idleWaste, as: 'usd' },
    { name: 'idle', of: ({ idleCount, runningCount }) => (idleCount === 0 ? null : `${idleCount} of ${runningCount}`) },
  ]
  session.out.list(answer, answer.items, { columns: shown, idOf: ({ id }) => id, empty: 'no resource costs money' })
  session.out.talk(
    `$${answer.perHour.toFixed(3)}/h now, $${answer.today.spent.toFixed(2)} today, $${answer.month.spent.toFixed(2)} this month`,
  )
}
