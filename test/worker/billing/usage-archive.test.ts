import fc from 'fast-check'
import { readWithArchives } from '../../../src/db/billing/archived-usage.ts'
import { readEndpointCharges } from '../../../src/db/billing/endpoint-charges.ts'
import { openDatabase } from '../../../src/db/client.ts'
import type { ChargedInterval } from '../../../src/domain/billing/bill.ts'
import { USAGE_KINDS } from '../../../src/domain/billing/usage.ts'
import { archiveKey } from '../../../src/domain/billing/usage-archive.ts'
import { moveUsage } from '../../../src/effects/billing/move-usage.ts'
import { openUsageArchive } from '../../../src/effects/billing/usage-archive.ts'
import {
  afterEach,
  api,
  createAccount,
  describe,
  env,
  expect,
  it,
  runDurableObjectAlarm,
  runInDurableObject,
  teamOf,
} from '../../support/harness.ts'
import { podScene } from '../../support/pods/pod-scene.ts'
import { closed, HOUR_MS, writeUsage } from '../../support/pods/usage.ts'
import { archivesOf, bucket, failing, JULY, moveAll, NOW, placesOf, strays } from '../../support/pods/usage-archive.ts'
import { hostStub } from '../../support/runner/stubs.ts'

const DAY_MS = 24 * HOUR_MS
const APRIL = Date.UTC(2026, 3, 1)
const MAY = Date.UTC(2026, 4, 1)
const L4 = 440_000_000
const ALL = 'startTime=2026-03-01T00:00:00Z&endTime=2026-09-01T00:00:00Z'
const BORDER = 'startTime=2026-04-25T12:00:00Z&endTime=2026-05-02T12:00:00Z'
const LISTS = ['', '/pods', '/serverless', '/network-volumes', '/clusters']

afterEach(clean)

async function clean(): Promise<void> {
  const { objects } = await bucket.list({ prefix: 'usage/' })
  if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key))
  for (const table of ['usage', 'usage_archives', 'usage_removals']) await env.DB.prepare(`DELETE FROM ${table}`).run()
}

async function newTeam() {
  const account = await createAccount()
  const teamId = await teamOf(account)
  const read = async (path: string) => {
    const { status, body } = await api(account.key).get(`/v2/billing${path}`)
    return { status, body }
  }
  const write = (intervals: readonly ChargedInterval[]) =>
    writeUsage(
      teamId,
      intervals.map((one) => ({ ...one, workloadId: `${teamId}-${one.workloadId}` })),
    )
  return { teamId, read, write }
}
type Team = Awaited<ReturnType<typeof newTeam>>

/** Every kind of bill that depends on single intervals, and one that does not. */
async function billsOf({ read }: Team): Promise<Record<string, Awaited<ReturnType<Team['read']>>>> {
  const queries = [`${BORDER}&bucketSize=hour`, `${ALL}&bucketSize=month&include=INTERVALS`, `${ALL}&bucketSize=month`]
  const paths = LISTS.flatMap((list) => queries.map((query) => `${list}?${query}`))
  const some = [`${BORDER}&bucketSize=hour`, `${ALL}&bucketSize=day&include=INTERVALS`].map((query) => `/pods?podId=r1&${query}`)
  return Object.fromEntries(await Promise.all([...paths, ...some].map(async (path) => [path, await read(path)])))
}

const fewBillsOf = ({ read }: Team) => Promise.all([`?${BORDER}&bucketSize=hour`, `?${ALL}&bucketSize=month&include=INTERVALS`].map(read))

/** A row that is not to be moved, after all others. */
const recent = closed({ workloadId: 'recent', startedAtMs: JULY - HOUR_MS, endedAtMs: JULY, gpuNanosPerHour: L4 })

const interval = fc
  .record({
    kind: fc.constantFrom(...USAGE_KINDS),
    resourceId: fc.constantFrom('r1', 'r2', 'r3'),
    workloadId: fc.constantFrom('w1', 'w2', 'w3'),
    startedAtMs: fc.oneof(fc.integer({ min: APRIL, max: JULY + 10 * DAY_MS }), fc.constantFrom(APRIL, MAY, MAY - 1, JULY)),
    ms: fc.oneof(fc.integer({ min: 0, max: HOUR_MS }), fc.integer({ min: 0, max: 70 * DAY_MS }), fc.constantFrom(1, HOUR_MS, DAY_MS)),
    volumeType: fc.constantFrom(null, 'STANDARD' as const, 'HIGH_PERFORMANCE' as const),
    gpuTypeId: fc.constantFrom(null, 'NVIDIA L4'),
    vcpus: fc.constantFrom(0, 0.5, 4),
    gpuNanosPerHour: fc.integer({ min: 0, max: 500_000_000_000 }),
    cpuNanosPerHour: fc.integer({ min: 0, max: 500_000_000 }),
    diskNanosPerHour: fc.integer({ min: 0, max: 50_000_000 }),
  })
  .map(({ ms, ...rest }): ChargedInterval => closed({ ...rest, endedAtMs: rest.startedAtMs + ms }))

describe('intervals of closed months', () => {
  it('[BIL-43] [BIL-44] move to the bucket, and no bill of any team changes', async () => {
    const of = fc.array(interval, { maxLength: 9 })
    await fc.assert(
      fc.asyncProperty(of, of, async (first, second) => {
        const teams = [await newTeam(), await newTeam()]
        for (const [i, intervals] of [first, second].entries()) await teams[i]?.write(intervals)
        await teams[0]?.write([recent])
        const before = await Promise.all(teams.map(billsOf))
        expect(new Set(before.flatMap((bills) => Object.values(bills).map(({ status }) => status)))).toEqual(new Set([200]))
        const names = await Promise.all(teams.map(({ teamId }) => placesOf(teamId)))
        await moveAll()
        expect(await Promise.all(teams.map(billsOf))).toEqual(before)
        for (const [i, { teamId }] of teams.entries()) {
          const after = await placesOf(teamId)
          expect([...after.stored, ...after.moved].toSorted()).toEqual(names[i]?.stored)
          const isOld = ({ endedAtMs }: ChargedInterval) => (endedAtMs ?? 0) < JULY
          // An object that is not full is followed by another one only after 30 days.
          expect(after.moved).toHaveLength([first, second][i]?.filter(isOld).length ?? 0)
        }
        expect(await strays()).toEqual([])
      }),
      { numRuns: 6 },
    )
  })

  it('[BIL-43] are objects by team, kind and month of their end, compressed and with their number', async () => {
    const team = await newTeam()
    await team.write([
      closed({ startedAtMs: APRIL, endedAtMs: MAY - 1, gpuNanosPerHour: L4 }),
      closed({ startedAtMs: APRIL, endedAtMs: MAY, gpuNanosPerHour: L4 }),
      closed({ startedAtMs: APRIL, endedAtMs: MAY, kind: 'CLUSTER', gpuNanosPerHour: L4 }),
      recent,
    ])
    await moveAll()
    const archives = await archivesOf(team.teamId)
    expect(archives.map(({ kind, monthMs, rows, state }) => [kind, monthMs, rows, state]).toSorted()).toEqual([
      ['CLUSTER', MAY, 1, 'STORED'],
      ['POD', APRIL, 1, 'STORED'],
      ['POD', MAY, 1, 'STORED'],
    ])
    const april = archives.find(({ monthMs }) => monthMs === APRIL)
    const key = `usage/2026-04/${team.teamId}/${april?.id}.ndjson.gz`
    const object = await bucket.get(key)
    expect(object?.customMetadata).toEqual({ kind: 'POD', rows: '1', sha256: april?.sha256 })
    const text = await new Response(object?.body.pipeThrough(new DecompressionStream('gzip'))).text()
    expect(JSON.parse(text)).toMatchObject({ teamId: team.teamId, startedAtMs: APRIL, endedAtMs: MAY - 1, gpuNanosPerHour: L4 })
  })

  it('[BIL-46] the last row stays, so that its number is not given to another one', async () => {
    const team = await newTeam()
    await team.write([1, 2].map((i) => closed({ workloadId: `${i}`, startedAtMs: APRIL, endedAtMs: MAY - i, gpuNanosPerHour: L4 })))
    await moveAll()
    expect(await placesOf(team.teamId)).toMatchObject({ moved: { length: 1 }, stored: [expect.stringContaining('-2 ')] })
  })

  it('[BIL-43] stay in the database without a bucket', async () => {
    const team = await newTeam()
    await team.write([closed({ startedAtMs: APRIL, endedAtMs: MAY }), recent])
    await moveAll(3, { DB: env.DB })
    expect(await placesOf(team.teamId)).toMatchObject({ moved: [], stored: { length: 2 } })
  })

  it('[BIL-46] a failure of any call loses no interval and counts none twice, before and after the next run', async () => {
    const count = failing({ at: 0, when: 'before' })
    const one = (workloadId: string, endedAtMs: number) =>
      closed({ workloadId, resourceId: 'r1', startedAtMs: APRIL, endedAtMs, gpuNanosPerHour: L4 })
    const intervals = [one('a', MAY - 1), one('b', MAY - 2), one('c', MAY - 3), recent]
    const team = await newTeam()
    await team.write(intervals)
    await moveAll(2, count.from)
    expect(count.calls()).toBeGreaterThan(12)
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; at <= count.calls(); at += 1) {
        await clean()
        await team.write(intervals)
        const before = await fewBillsOf(team)
        const nowMs = NOW + at * HOUR_MS
        await expect(moveAll(2, failing({ at, when }).from, nowMs), `${when} ${at}`).rejects.toThrow()
        expect(await fewBillsOf(team), `${when} ${at}`).toEqual(before)
        await moveAll(2, env, nowMs + HOUR_MS / 2 + 1)
        await moveAll(2, env, nowMs + HOUR_MS + 2)
        const { stored, moved } = await placesOf(team.teamId)
        expect([stored.length, moved.length, new Set([...stored, ...moved]).size], `${when} ${at}`).toEqual([1, 3, intervals.length])
        expect(await fewBillsOf(team), `${when} ${at}`).toEqual(before)
        expect(await strays(), `${when} ${at}`).toEqual([])
      }
    }
  })

  it('[BIL-46] two runs at once move each interval once', async () => {
    const team = await newTeam()
    const some = Array.from({ length: 10 }, (_, i) =>
      closed({ workloadId: `${i}`, startedAtMs: APRIL, endedAtMs: MAY + i, gpuNanosPerHour: L4 }),
    )
    await team.write([...some, recent])
    const before = await billsOf(team)
    await Promise.all([moveAll(), moveAll(), moveAll()])
    await moveAll()
    expect((await placesOf(team.teamId)).moved).toHaveLength(10)
    expect(await billsOf(team)).toEqual(before)
    expect(await strays()).toEqual([])
  })

  it('[BIL-46] an object whose rows were deleted meanwhile does not count, and is deleted', async () => {
    const team = await newTeam()
    const other = closed({ workloadId: 'other', startedAtMs: APRIL, endedAtMs: MAY + 1, gpuNanosPerHour: L4 })
    await team.write([closed({ startedAtMs: APRIL, endedAtMs: MAY, gpuNanosPerHour: L4 }), other, recent])
    const put = async (...args: Parameters<R2Bucket['put']>) => {
      await env.DB.prepare('DELETE FROM usage WHERE team_id = ? AND ended_at = ?').bind(team.teamId, MAY).run()
      return bucket.put(...args)
    }
    const deleting = new Proxy(bucket, { get: (target, name) => (name === 'put' ? put : Reflect.get(target, name, target).bind(target)) })
    expect(await moveUsage({ DB: env.DB, USAGE: deleting }, NOW, NOW)).toBe(false)
    expect((await placesOf(team.teamId)).stored).toHaveLength(2)
    await moveAll()
    expect((await archivesOf(team.teamId)).map(({ rows, state }) => [rows, state])).toEqual([[1, 'STORED']])
    expect((await placesOf(team.teamId)).moved).toEqual([expect.stringContaining('-other ')])
    expect(await strays()).toEqual([])
  })

  it('[BIL-44] a bill that reads while intervals move reads again; with no end of it, it is 503', async () => {
    const team = await newTeam()
    const some = Array.from({ length: 70 }, (_, i) =>
      closed({ workloadId: `${i}`, startedAtMs: APRIL, endedAtMs: MAY + i, gpuNanosPerHour: L4 }),
    )
    await team.write([...some, recent])
    const db = openDatabase(env.DB)
    const scope = { teamId: team.teamId, kinds: USAGE_KINDS, resourceId: null }
    const period = { startMs: APRIL, endMs: JULY }
    const seen: number[] = []
    const read = async (objects: readonly unknown[]) => {
      seen.push(objects.length)
      if (seen.length < 3) await moveUsage(env, NOW, NOW, 3)
      return 'read'
    }
    expect(await readWithArchives(db, scope, period, read)).toBe('read')
    expect(seen).toEqual([0, 5, 10])
    const moving = () => moveUsage(env, NOW, NOW, 1)
    await expect(readWithArchives(db, scope, period, moving)).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '10' } })
    // A move outside of the period does not matter.
    const later = { startMs: JULY - 1, endMs: JULY }
    expect(await readWithArchives(db, scope, later, moving)).toBe(true)
  })

  it('[BIL-43] [BIL-47] [SPD-2] stay while a present run needs them; late ones are charged at once, and follow after 30 days', async () => {
    const scene = await podScene()
    const { id } = await scene.create()
    await scene.run(id)
    await env.DB.prepare('UPDATE pods SET started_at = ? WHERE id = ?').bind(APRIL, id).run()
    const team = await newTeam()
    const run = closed({ workloadId: id, startedAtMs: APRIL, endedAtMs: MAY - 1, gpuNanosPerHour: L4 })
    await writeUsage(team.teamId, [run])
    await team.write([closed({ startedAtMs: APRIL, endedAtMs: MAY - 1, gpuNanosPerHour: L4 }), recent])
    await moveAll()
    expect((await placesOf(team.teamId)).moved).toHaveLength(1)
    expect((await archivesOf(team.teamId)).map(({ rows }) => rows)).toEqual([1])
    await team.write([
      closed({ workloadId: 'late', resourceId: 'r1', startedAtMs: APRIL, endedAtMs: APRIL + HOUR_MS, gpuNanosPerHour: L4 }),
      recent,
    ])
    const before = await billsOf(team)
    expect(before[`/pods?podId=r1&${ALL}&bucketSize=day&include=INTERVALS`]?.body.metadata.totals.totalAmount).toBe(0.44)
    await moveAll(3, env, NOW + 29 * DAY_MS)
    expect(await archivesOf(team.teamId)).toHaveLength(1)
    await moveAll(3, env, NOW + 30 * DAY_MS)
    expect(await archivesOf(team.teamId)).toHaveLength(2)
    expect(await billsOf(team)).toEqual(before)
    scene.leave()
  })

  it('[BIL-42] [BIL-47] objects are deleted with the retention of intervals, and bills name its start', async () => {
    const team = await newTeam()
    await team.write([
      closed({ startedAtMs: APRIL, endedAtMs: APRIL + HOUR_MS, gpuNanosPerHour: L4 }),
      closed({ startedAtMs: MAY, endedAtMs: MAY + HOUR_MS, gpuNanosPerHour: L4 }),
      recent,
    ])
    await moveAll()
    const months = (await team.read(`?${ALL}&bucketSize=month`)).body
    // The calls are: mark, list, delete the object, delete its row.
    for (const at of [2, 3, 4]) {
      for (const when of ['before', 'after'] as const) {
        await expect(moveUsage(failing({ at, when }).from, NOW - MAY, NOW)).rejects.toThrow()
      }
    }
    await moveUsage(env, NOW - MAY, NOW)
    expect((await archivesOf(team.teamId)).map(({ monthMs }) => monthMs)).toEqual([MAY])
    expect(await strays()).toEqual([])
    expect((await team.read(`?${ALL}&bucketSize=month`)).body).toEqual(months)
    const refusal = { status: 400, body: { detail: expect.stringContaining('ended before 2026-05-01T00:00:00Z') } }
    expect(await team.read(`?${ALL}&bucketSize=hour`)).toMatchObject(refusal)
    const since = await team.read('/pods?startTime=2026-05-01T00:00:00Z&endTime=2026-06-01T00:00:00Z&bucketSize=hour')
    expect([since.status, since.body.metadata.totals.totalAmount]).toEqual([200, 0.44])
  })

  it('[BIL-47] the previous release refuses bills that need moved intervals: it reads the latest time of both', async () => {
    const team = await newTeam()
    await team.write([closed({ startedAtMs: APRIL, endedAtMs: MAY, gpuNanosPerHour: L4 }), recent])
    await moveAll()
    const read = await env.DB.prepare('SELECT COALESCE((SELECT MAX(until_ms) FROM usage_removals), 0) AS untilMs').first()
    expect(read).toEqual({ untilMs: MAY + 1 })
  })

  it('[BIL-43] the hourly timer of a host moves them', async () => {
    const scene = await podScene()
    const team = await newTeam()
    const startedAtMs = Date.now() - 100 * DAY_MS
    await team.write([closed({ startedAtMs, endedAtMs: startedAtMs + HOUR_MS, gpuNanosPerHour: L4 }), recent])
    const stub = hostStub(env, scene.host.id)
    await runInDurableObject(stub, (_, { storage }) => {
      storage.sql.exec("UPDATE timers SET due_at = 1 WHERE name = 'housekeeping'")
    })
    await runDurableObjectAlarm(stub)
    expect((await placesOf(team.teamId)).moved).toHaveLength(1)
    scene.leave()
  })

  it('[BIL-44] [HIS-21] count for the costs of an endpoint', async () => {
    const team = await newTeam()
    const worker = { kind: 'SERVERLESS' as const, resourceId: 'ep', gpuNanosPerHour: L4 }
    const some = [0, 1, 2].map((i) =>
      closed({ ...worker, workloadId: `${i}`, startedAtMs: MAY + i * HOUR_MS, endedAtMs: MAY + (i + 1) * HOUR_MS }),
    )
    await team.write([...some, { ...(some[0] ?? recent), resourceId: 'other' }, recent])
    const sources = { db: openDatabase(env.DB), archive: openUsageArchive(env) }
    const read = () => readEndpointCharges(sources, team.teamId, 'ep', { fromMs: MAY + HOUR_MS, toMs: MAY + 3 * HOUR_MS })
    const before = await read()
    expect(before).toHaveLength(2)
    await moveAll()
    expect((await read())?.toSorted((a, b) => b.fromMs - a.fromMs)).toEqual(before)
  })
})

describe('damaged objects', () => {
  async function movedTeam() {
    const team = await newTeam()
    await team.write([closed({ startedAtMs: APRIL, endedAtMs: MAY - 1, gpuNanosPerHour: L4 }), recent])
    await moveAll()
    const [archive] = await archivesOf(team.teamId)
    if (!archive) throw new Error('nothing was moved')
    const bills = () => Promise.all(['bucketSize=hour', 'include=INTERVALS'].map((query) => team.read(`/pods?${ALL}&${query}`)))
    return { ...team, archive, key: archiveKey(archive), bills }
  }
  const refusals = (key: string, fault: string) => {
    const refusal = { status: 500, body: { detail: expect.stringContaining(`the usage of 2026-04 in the object ${key} ${fault}`) } }
    return [refusal, refusal]
  }

  it('[BIL-45] a missing or different object is 500 with month and key, and bills by the day do not change', async () => {
    const team = await movedTeam()
    const days = await team.read(`/pods?${ALL}`)
    const written = await (await bucket.get(team.key))?.arrayBuffer()
    await bucket.delete(team.key)
    expect(await team.bills()).toMatchObject(refusals(team.key, 'is missing'))
    for (const content of [new ArrayBuffer(0), 'text', (written ?? new ArrayBuffer(0)).slice(0, -9)]) {
      await bucket.put(team.key, content)
      expect(await team.bills()).toMatchObject(refusals(team.key, 'is not as it was written'))
    }
    expect(await team.read(`/pods?${ALL}`)).toEqual(days)
    await bucket.put(team.key, written ?? '')
    expect((await team.bills()).map(({ status }) => status)).toEqual([200, 200])
  })

  it("[BIL-45] another team's object is never read as the team's own", async () => {
    const [mine, other] = [await movedTeam(), await movedTeam()]
    const theirs = await (await bucket.get(other.key))?.arrayBuffer()
    await bucket.put(mine.key, theirs ?? '')
    expect(await mine.bills()).toMatchObject(refusals(mine.key, 'is not as it was written'))
    // Not even where the database expects its checksum.
    const { sha256, bytes } = other.archive
    await env.DB.prepare('UPDATE usage_archives SET sha256 = ?, bytes = ? WHERE id = ?').bind(sha256, bytes, mine.archive.id).run()
    expect(await mine.bills()).toMatchObject(refusals(mine.key, 'is not as it was written'))
    expect((await other.bills()).map(({ status }) => status)).toEqual([200, 200])
  })

  it('[BIL-45] a plane that has lost its bucket says so, and a bucket that is away is 503', async () => {
    const { archive, key } = await movedTeam()
    const none = { status: 500, detail: expect.stringContaining(`${key} cannot be read: the plane has no bucket USAGE`) }
    await expect(openUsageArchive({}).read(archive)).rejects.toMatchObject(none)
    const away = new Proxy(bucket, { get: () => () => Promise.reject(new Error('away')) })
    await expect(openUsageArchive({ USAGE: away }).read(archive)).rejects.toMatchObject({ status: 503 })
  })
})
