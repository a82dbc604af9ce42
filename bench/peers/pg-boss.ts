import { loadPackage } from '../packages.ts'
import type { PeerQueue } from './queue.ts'

interface Boss {
  start(): Promise<unknown>
  createQueue(name: string): Promise<void>
  send(name: string, data: object): Promise<string | null>
  fetch(name: string, options: { batchSize: number }): Promise<{ id: string; data: { input: unknown } }[]>
  complete(name: string, id: string, data: object): Promise<unknown>
}
type BossClass = new (options: { connectionString: string; max: number; schedule: boolean }) => Boss
/** Up to version 10 the package's default export is the class; from 11 on the export is named. */
type PgBossPackage = { PgBoss: BossClass } | { PgBoss?: undefined; default: BossClass }

const QUEUE = 'bench'
/** One connection per request would only make the server switch between them. */
const CONNECTIONS = 16

/** pg-boss on a PostgreSQL server that flushes every commit. */
export async function openPgBoss(connectionString: string): Promise<PeerQueue> {
  const pgBoss = await loadPackage<PgBossPackage>('pg-boss')
  const PgBoss = pgBoss.PgBoss ?? pgBoss.default
  const boss = new PgBoss({ connectionString, max: CONNECTIONS, schedule: false })
  await boss.start()
  await boss.createQueue(QUEUE)
  return {
    async submit(input) {
      return (await boss.send(QUEUE, { input })) ?? ''
    },
    async take(count) {
      const jobs = await boss.fetch(QUEUE, { batchSize: count })
      return jobs.map(({ id, data }) => ({ id, input: data.input }))
    },
    async finish(jobId, output) {
      await boss.complete(QUEUE, jobId, { output })
    },
  }
}
