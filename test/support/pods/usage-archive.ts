import { type ArchiveRow, listGivenUp } from '../../../src/db/billing/usage-archives.ts'
import { openDatabase } from '../../../src/db/client.ts'
import { archiveKey, type UsageRecord } from '../../../src/domain/billing/usage-archive.ts'
import { moveUsage } from '../../../src/effects/billing/move-usage.ts'
import { openUsageArchive } from '../../../src/effects/billing/usage-archive.ts'
import { env } from '../harness.ts'

const { USAGE } = env
if (!USAGE) throw new Error('the tests are to have a bucket')
export const bucket: R2Bucket = USAGE

/** The moment of the moves: everything that ended before July 2026 is to be moved. */
export const NOW = Date.UTC(2026, 8, 1)
export const JULY = Date.UTC(2026, 6, 1)
const KEPT_FOREVER = NOW

/** The bindings that a run of the mover uses. */
export type MoverEnv = Parameters<typeof moveUsage>[0]

/** Moves until nothing is left to move. */
export async function moveAll(objectRows = 3, from: MoverEnv = env, nowMs = NOW): Promise<void> {
  while (await moveUsage(from, KEPT_FOREVER, nowMs, objectRows));
}

/** The rows about objects of a team. */
export async function archivesOf(teamId: string): Promise<ArchiveRow[]> {
  const { results } = await env.DB.prepare(
    `SELECT id, state, team_id AS teamId, kind, month_ms AS monthMs, rows, bytes, sha256, started_at AS startedAtMs, ended_at AS endedAtMs,
      changed_at AS changedAtMs FROM usage_archives WHERE team_id = ? ORDER BY ended_at`,
  )
    .bind(teamId)
    .all<ArchiveRow>()
  return results
}

/** Names of the intervals of a team: those in the database, and those in objects that count, each as often as it is there. */
export async function placesOf(teamId: string): Promise<{ stored: string[]; moved: string[] }> {
  const { results } = await env.DB.prepare('SELECT workload_id AS id, sequence FROM usage WHERE team_id = ?')
    .bind(teamId)
    .all<{ id: string; sequence: number }>()
  const archives = (await archivesOf(teamId)).filter(({ state }) => state === 'STORED')
  const archive = openUsageArchive(env)
  const records = (await Promise.all(archives.map((one) => archive.read(one)))).flat()
  const nameOf = ({ id, sequence }: { id: string; sequence: number }) => `${id} ${sequence}`
  return {
    stored: results.map(nameOf).toSorted(),
    moved: records.map(({ workloadId: id, sequence }: UsageRecord) => nameOf({ id, sequence })).toSorted(),
  }
}

/** Keys in the bucket that no row knows, and keys of stored rows that the bucket does not have. */
export async function strays(): Promise<string[]> {
  const known = await env.DB.prepare('SELECT id, team_id AS teamId, month_ms AS monthMs FROM usage_archives').all<
    Pick<ArchiveRow, 'id' | 'teamId' | 'monthMs'>
  >()
  const [keys, objects] = [known.results.map(archiveKey), (await bucket.list({ prefix: 'usage/' })).objects.map(({ key }) => key)]
  const given = await listGivenUp(openDatabase(env.DB), 100)
  return [...objects.filter((key) => !keys.includes(key)), ...keys.filter((key) => !objects.includes(key)), ...given.map(archiveKey)]
}

/** Where a call fails: before it does anything, or after it has done everything. */
export type Failure = { at: number; when: 'before' | 'after' }

/** The plane's database and bucket, of which one call fails. `calls` counts them. */
export function failing({ at, when }: Failure): { from: MoverEnv; calls: () => number } {
  let calls = 0
  const run = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    calls += 1
    if (calls !== at) return work()
    if (when === 'after') await work()
    throw new Error(`call ${at} fails`)
  }
  const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>()
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = new Proxy(statement, {
      get(target, name) {
        if (name === 'bind') return (...values: unknown[]) => wrap(target.bind(...values))
        if (name === 'all' || name === 'run' || name === 'raw') return () => run<unknown>(() => target[name]())
        return Reflect.get(target, name, target)
      },
    })
    originals.set(wrapped, statement)
    return wrapped
  }
  const DB = new Proxy(env.DB, {
    get(target, name) {
      if (name === 'prepare') return (text: string) => wrap(target.prepare(text))
      const batch = (all: D1PreparedStatement[]) => run(() => target.batch(all.map((one) => originals.get(one) ?? one)))
      return name === 'batch' ? batch : Reflect.get(target, name, target)
    },
  })
  const failingBucket = new Proxy(bucket, {
    get(target, name) {
      const method = Reflect.get(target, name, target)
      return typeof method === 'function' ? (...args: unknown[]) => run(() => method.apply(target, args)) : method
    },
  })
  return { from: { DB, USAGE: failingBucket }, calls: () => calls }
}
