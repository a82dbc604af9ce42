import fc from 'fast-check'
import { BUCKET_SIZES } from '../../../src/contract/billing/query.ts'
import { type ChargedInterval, cutInterval, sumCharges, totalMicros } from '../../../src/domain/billing/bill.ts'
import { resolveBuckets } from '../../../src/domain/billing/buckets.ts'
import { USAGE_KINDS } from '../../../src/domain/billing/usage.ts'
import { api, createAccount, describe, env, expect, it, teamOf } from '../../support/harness.ts'
import { closed, HOUR_MS, writeUsage } from '../../support/pods/usage.ts'

const DAY_MS = 24 * HOUR_MS
const L4 = 440_000_000
const JUNE = Date.UTC(2026, 5, 1)
const RANGE = 'startTime=2026-06-01T00:00:00Z&endTime=2026-06-08T00:00:00Z'
const RUNS = 12
const PATHS = { POD: 'pods', SERVERLESS: 'serverless', NETWORK_VOLUME: 'network-volumes', CLUSTER: 'clusters' } as const

async function newTeam() {
  const account = await createAccount()
  return { key: account.key, teamId: await teamOf(account) }
}

describe('bills', () => {
  it('[BIL-1][BIL-3][BIL-4] pods: one record a pod and bucket, with totals; an interval across a border is cut there', async () => {
    const { key, teamId } = await newTeam()
    await writeUsage(teamId, [
      closed({ resourceId: 'b', workloadId: 'b', startedAtMs: JUNE + 23 * HOUR_MS, endedAtMs: JUNE + 26 * HOUR_MS, gpuNanosPerHour: L4 }),
      closed({ startedAtMs: JUNE + HOUR_MS, endedAtMs: JUNE + 2 * HOUR_MS, gpuNanosPerHour: L4, diskNanosPerHour: 6_849_315 }),
      closed({ startedAtMs: JUNE + 3 * HOUR_MS, endedAtMs: JUNE + 4 * HOUR_MS, cpuNanosPerHour: 60_000_000 }),
    ])
    const { status, body } = await api(key).get(`/v2/billing/pods?${RANGE}`)
    expect(status).toBe(200)
    const first = { startTime: '2026-06-01T00:00:00Z', endTime: '2026-06-02T00:00:00Z' }
    const second = { startTime: '2026-06-02T00:00:00Z', endTime: '2026-06-03T00:00:00Z' }
    expect(body).toEqual({
      records: [
        { ...first, podId: 'b', totalAmount: 0.44, gpuAmount: 0.44, cpuAmount: 0, diskAmount: 0 },
        { ...first, podId: 'pod', totalAmount: 0.506849, gpuAmount: 0.44, cpuAmount: 0.06, diskAmount: 0.006849 },
        { ...second, podId: 'b', totalAmount: 0.88, gpuAmount: 0.88, cpuAmount: 0, diskAmount: 0 },
      ],
      metadata: {
        query: { startTime: '2026-06-01T00:00:00Z', endTime: '2026-06-08T00:00:00Z', bucketSize: 'day', podId: null },
        recordCount: 3,
        uniquePodCount: 2,
        totals: { totalAmount: 1.826849, gpuAmount: 1.76, cpuAmount: 0.06, diskAmount: 0.006849 },
      },
    })
    const one = await api(key).get(`/v2/billing/pods?${RANGE}&bucketSize=month&podId=b`)
    expect(one.body.records).toEqual([
      {
        startTime: '2026-06-01T00:00:00Z',
        endTime: '2026-07-01T00:00:00Z',
        podId: 'b',
        totalAmount: 1.32,
        gpuAmount: 1.32,
        cpuAmount: 0,
        diskAmount: 0,
      },
    ])
    expect(one.body.metadata.query.podId).toBe('b')
  })

  it('[BIL-5] an unknown filter id and a bucket without spend are empty', async () => {
    const { key, teamId } = await newTeam()
    await writeUsage(teamId, [closed({ startedAtMs: JUNE, endedAtMs: JUNE + 2, gpuNanosPerHour: L4 })])
    const none = await api(key).get(`/v2/billing/pods?${RANGE}&podId=unknown`)
    const totals = { totalAmount: 0, gpuAmount: 0, cpuAmount: 0, diskAmount: 0 }
    expect([none.status, none.body.records, none.body.metadata]).toMatchObject([200, [], { recordCount: 0, uniquePodCount: 0, totals }])
    expect((await api(key).get(`/v2/billing/pods?${RANGE}`)).body.records).toEqual([])
    expect((await api(key).get('/v2/billing')).body.records).toEqual([])
  })

  it('[BIL-1][BIL-4][BIL-12] every kind has its list; clusters have one amount of compute; there are no public endpoints', async () => {
    const { key, teamId } = await newTeam()
    const hour = {
      startedAtMs: JUNE,
      endedAtMs: JUNE + HOUR_MS,
      gpuNanosPerHour: 2_000_000,
      cpuNanosPerHour: 3_000_000,
      diskNanosPerHour: 5_000_000,
    }
    await writeUsage(teamId, [
      closed({ ...hour, kind: 'SERVERLESS', resourceId: 'e', workloadId: 'w1' }),
      closed({ ...hour, kind: 'SERVERLESS', resourceId: 'e', workloadId: 'w2' }),
      closed({ ...hour, kind: 'CLUSTER', resourceId: 'c', workloadId: 'p1' }),
      closed({ ...hour, kind: 'NETWORK_VOLUME', resourceId: 'v', gpuNanosPerHour: 0, cpuNanosPerHour: 0, volumeType: 'STANDARD' }),
      closed({ ...hour, kind: 'NETWORK_VOLUME', resourceId: 'f', gpuNanosPerHour: 0, cpuNanosPerHour: 0, volumeType: 'HIGH_PERFORMANCE' }),
    ])
    const read = async (path: string) => (await api(key).get(`/v2/billing${path}?${RANGE}&bucketSize=year`)).body
    const range = { startTime: '2026-01-01T00:00:00Z', endTime: '2027-01-01T00:00:00Z' }
    expect((await read('/serverless')).records).toEqual([
      { ...range, serverlessId: 'e', totalAmount: 0.02, gpuAmount: 0.004, cpuAmount: 0.006, diskAmount: 0.01, feeAmount: 0 },
    ])
    expect((await read('/clusters')).records).toEqual([
      { ...range, clusterId: 'c', totalAmount: 0.01, gpuAmount: 0.005, diskAmount: 0.005, networkingAmount: 0 },
    ])
    expect((await read('/network-volumes')).records).toEqual([
      { ...range, networkVolumeId: 'f', totalAmount: 0.005, standardAmount: 0, highPerformanceAmount: 0.005 },
      { ...range, networkVolumeId: 'v', totalAmount: 0.005, standardAmount: 0.005, highPerformanceAmount: 0 },
    ])
    const counted = async (path: string) => {
      const { query: _query, totals: _totals, ...counts } = (await read(path)).metadata
      return counts
    }
    expect(await counted('/serverless')).toEqual({ recordCount: 1, uniqueServerlessCount: 1 })
    expect(await counted('/clusters')).toEqual({ recordCount: 1, uniqueClusterCount: 1 })
    expect(await counted('/network-volumes')).toEqual({ recordCount: 2, uniqueNetworkVolumeCount: 2 })
    expect(await read('/endpoints')).toEqual({
      records: [],
      metadata: { query: { ...range, bucketSize: 'year' }, recordCount: 0, totals: { totalAmount: 0 } },
    })
    const amounts = {
      totalAmount: 0.04,
      podGpuAmount: 0,
      podCpuAmount: 0,
      podDiskAmount: 0,
      serverlessGpuAmount: 0.004,
      serverlessCpuAmount: 0.006,
      serverlessDiskAmount: 0.01,
      serverlessFeeAmount: 0,
      storageStandardAmount: 0.005,
      storageHighPerformanceAmount: 0.005,
      endpointAmount: 0,
      clusterGpuAmount: 0.005,
      clusterDiskAmount: 0.005,
      clusterNetworkingAmount: 0,
    }
    expect(await read('')).toEqual({
      records: [{ ...range, ...amounts }],
      metadata: { query: { ...range, bucketSize: 'year' }, recordCount: 1, totals: amounts },
    })
  })

  const interval = fc
    .record({
      kind: fc.constantFrom(...USAGE_KINDS),
      resourceId: fc.constantFrom('r1', 'r2', 'r3'),
      startedAtMs: fc.integer({ min: JUNE - 3 * DAY_MS, max: JUNE + 10 * DAY_MS }),
      ms: fc.oneof(fc.integer({ min: 0, max: HOUR_MS }), fc.integer({ min: 0, max: 6 * DAY_MS })),
      volumeType: fc.constantFrom(null, 'STANDARD' as const, 'HIGH_PERFORMANCE' as const),
      gpuNanosPerHour: fc.integer({ min: 0, max: 50_000_000_000 }),
      cpuNanosPerHour: fc.integer({ min: 0, max: 500_000_000 }),
      diskNanosPerHour: fc.integer({ min: 0, max: 50_000_000 }),
    })
    .map(({ ms, ...rest }): ChargedInterval => closed({ ...rest, endedAtMs: rest.startedAtMs + ms }))

  it('[BIL-5][BIL-16] the sums of D1 equal those of the intervals one by one, whatever usage other accounts have', {
    timeout: 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(interval, { minLength: 5, maxLength: 60 }),
        fc.constantFrom(...BUCKET_SIZES),
        async (intervals, bucketSize) => {
          const { key, teamId } = await newTeam()
          await writeUsage(teamId, intervals)
          await writeUsage((await newTeam()).teamId, intervals)
          const window = resolveBuckets({ bucketSize, startTime: '2026-06-01T00:00:00Z', endTime: '2026-06-08T00:00:00Z' }, Date.now())
          if (!window.ok) throw new Error('refused')
          const charges = sumCharges(intervals.flatMap((one) => cutInterval(one, window.buckets, Date.now())))
          for (const kind of USAGE_KINDS) {
            const path = `/v2/billing/${PATHS[kind]}?${RANGE}&bucketSize=${bucketSize}`
            const { body } = await api(key).get(path)
            const own = charges.filter((charge) => charge.kind === kind)
            const totals = body.records.map(({ totalAmount }: { totalAmount: number }) => totalAmount)
            expect(totals).toEqual(own.map((charge) => totalMicros(charge) / 1e6))
            const listed = await api(key).get(`${path}&include=INTERVALS`)
            const bare = listed.body.records.map(({ intervals: _, ...record }: { intervals: unknown }) => record)
            expect({ ...listed.body, records: bare }).toEqual(body)
          }
          const all = await api(key).get(`/v2/billing?${RANGE}&bucketSize=${bucketSize}`)
          const micros = charges.reduce((sum, charge) => sum + totalMicros(charge), 0)
          expect(all.body.metadata.totals.totalAmount).toBe(micros / 1e6)
        },
      ),
      { numRuns: RUNS, endOnFailure: true },
    )
  })

  it('[BIL-16] include=INTERVALS lists the intervals of a record, so that its amounts can be derived', async () => {
    const { key, teamId } = await newTeam()
    const what = { gpuTypeId: 'NVIDIA L4', gpuCount: 1, vcpus: 8, diskGb: 50 }
    await writeUsage(teamId, [
      closed({
        ...what,
        startedAtMs: JUNE - HOUR_MS + 250,
        endedAtMs: JUNE + HOUR_MS / 2,
        gpuNanosPerHour: L4,
        diskNanosPerHour: 6_849_315,
      }),
    ])
    const { body } = await api(key).get(`/v2/billing/pods?${RANGE}&include=INTERVALS`)
    expect(body.records).toEqual([
      {
        startTime: '2026-06-01T00:00:00Z',
        endTime: '2026-06-02T00:00:00Z',
        podId: 'pod',
        totalAmount: 0.223425,
        gpuAmount: 0.22,
        cpuAmount: 0,
        diskAmount: 0.003425,
        intervals: [
          {
            kind: 'POD',
            resourceId: 'pod',
            workloadId: 'pod',
            startTime: '2026-05-31T23:00:00.250Z',
            endTime: '2026-06-01T00:30:00.000Z',
            gpuTypeId: 'NVIDIA L4',
            gpuCount: 1,
            vcpuCount: 8,
            diskGb: 50,
            volumeType: null,
            gpuPerHour: 0.44,
            cpuPerHour: 0,
            diskPerHour: 0.006849315,
            gpuAmount: 0.22,
            cpuAmount: 0,
            diskAmount: 0.003425,
            totalAmount: 0.223425,
          },
        ],
      },
    ])
  })

  it('[BIL-15] bills are CSV with the same columns where `Accept` prefers it, one row per interval with INTERVALS', async () => {
    const { key, teamId } = await newTeam()
    await writeUsage(teamId, [
      closed({ resourceId: '=1+1', startedAtMs: JUNE, endedAtMs: JUNE + HOUR_MS, gpuNanosPerHour: L4, diskNanosPerHour: 1 }),
    ])
    const read = async (path: string, accept: string) => {
      const { status, headers, body } = await api(key).get(path, undefined, { Accept: accept })
      return { status, type: headers.get('Content-Type'), vary: headers.get('Vary'), body }
    }
    const csv = { status: 200, type: 'text/csv; charset=utf-8; header=present', vary: expect.stringContaining('Accept') }
    const pods = await read(`/v2/billing/pods?${RANGE}`, 'text/csv')
    const head = 'startTime,endTime,podId,totalAmount,gpuAmount,cpuAmount,diskAmount'
    expect(pods).toEqual({ ...csv, body: `${head}\r\n2026-06-01T00:00:00Z,2026-06-02T00:00:00Z,'=1+1,0.44,0.44,0,0\r\n` })
    const listed = await read(`/v2/billing/pods?${RANGE}&include=INTERVALS`, 'text/csv, application/json;q=0.5')
    const [names = '', first = '', end] = String(listed.body).split('\r\n')
    const cells = Object.fromEntries(names.split(',').map((name, i) => [name, first.split(',')[i]]))
    expect(cells).toMatchObject({
      startTime: '2026-06-01T00:00:00Z',
      intervalStartTime: '2026-06-01T00:00:00.000Z',
      intervalEndTime: '2026-06-01T01:00:00.000Z',
      gpuTypeId: '',
      gpuPerHour: '0.44',
      diskPerHour: '0.000000001',
      totalAmount: '0.44',
    })
    expect(end).toBe('')
    expect((await read(`/v2/billing/endpoints?${RANGE}`, 'text/csv')).body).toBe('startTime,endTime,totalAmount\r\n')
    for (const accept of ['*/*', 'application/json', 'image/png'])
      expect((await read(`/v2/billing?${RANGE}`, accept)).type).toBe('application/json')
    expect((await read('/v2/billing?lastN=0', 'text/csv')).type).toBe('application/problem+json')
  })

  it.for([
    ['lastN=2&startTime=2026-06-01T00:00:00Z', 400],
    ['startTime=2026-06-02T00:00:00Z&endTime=2026-06-01T00:00:00Z', 400],
    ['bucketSize=hour&startTime=2020-01-01T00:00:00Z', 400],
    ['bucketSize=minute', 422],
    ['startTime=yesterday', 422],
    ['lastN=0', 422],
    ['lastN=2.5', 422],
    ['include=EVERYTHING', 422],
    ['podId=', 422],
  ] as const)('[BIL-2][BIL-14] %s is %i', async ([query, status]) => {
    const { key } = await newTeam()
    expect((await api(key).get(`/v2/billing/pods?${query}`)).status).toBe(status)
  })

  it('[BIL-14] more records or intervals than the limit of a reply are refused, and the limit is named', async () => {
    const { key, teamId } = await newTeam()
    const many = 'WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)'
    const columns = 'workload_id, sequence, kind, resource_id, team_id, started_at, ended_at, gpu_nanos_per_hour, gpu_micros'
    const row = `SELECT 'many-' || i, 1, 'POD', 'many', '${teamId}', ${JUNE} + i, ${JUNE} + i + 1000, 3600000000, 1000 FROM n`
    await env.DB.prepare(`INSERT INTO usage (${columns}) ${many} ${row}`).run()
    expect((await api(key).get(`/v2/billing/pods?${RANGE}`)).body.metadata.totals.totalAmount).toBe(5.001)
    const refused = await api(key).get(`/v2/billing/pods?${RANGE}&include=INTERVALS`)
    expect(refused.body).toMatchObject({ status: 400, detail: expect.stringContaining('more than 5000 intervals') })
  })
})
