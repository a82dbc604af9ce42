import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { amountRow, latencyRow, median, percentiles, type Row } from '../report.ts'
import { type BenchPlane, startBenchPlane } from '../setup.ts'

const HOSTS = 1_000
const TYPES = ['NVIDIA L4', 'NVIDIA GeForce RTX 4090', 'NVIDIA H200', 'NVIDIA B200']
const DATA_CENTERS = ['EU-RO-1', 'US-KS-2', 'CA-MTL-1', 'AP-JP-1', 'OC-AU-1']
const GPUS = 8
const WARM_READS = 100
const COLD_READS = 5
/** An isolate caches hosts for 5 s. */
const UNTIL_COLD_MS = 5_100

/** Latency of the catalog with the availability of every GPU type on a thousand hosts, with and without cached hosts. */
export async function measureCatalog(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  await plane.rewrite(fillFleet)
  const query = '?include=AVAILABILITY&product=POD,SERVERLESS'
  const plain = await readMany(plane, '/v2/catalog/gpus')
  const cold: number[] = []
  for (let n = 0; n < COLD_READS; n += 1) {
    await sleep(UNTIL_COLD_MS)
    cold.push(await read(plane, `/v2/catalog/gpus${query}`))
  }
  const warm = await readMany(plane, `/v2/catalog/gpus${query}`)
  return [
    latencyRow('GPU types', percentiles(plain)),
    latencyRow(`GPU types with availability, ${HOSTS} hosts remembered`, percentiles(warm)),
    amountRow(`the same, ${HOSTS} hosts read first (median of ${COLD_READS})`, median(cold), 'ms'),
  ]
}

async function readMany(plane: BenchPlane, path: string): Promise<number[]> {
  await read(plane, path)
  const took: number[] = []
  for (let n = 0; n < WARM_READS; n += 1) took.push(await read(plane, path))
  return took
}

async function read(plane: BenchPlane, path: string): Promise<number> {
  const startedAt = performance.now()
  const response = await fetch(plane.url + path, { headers: { authorization: `Bearer ${plane.apiKey}` } })
  const { gpus } = (await response.json()) as { gpus?: { availability?: string }[] }
  const took = performance.now() - startedAt
  const isRight = path.includes('include') ? gpus?.some(({ availability }) => availability === 'HIGH') : gpus?.length
  if (!isRight) throw new Error(`${path}: ${response.status}`)
  return took
}

// Every second host is full, so that the query also processes hosts that do not fit.
function fillFleet(database: DatabaseSync): void {
  const host = database.prepare(`INSERT INTO hosts (id, name, data_center_id, status, public_key_x, epoch, inventory, vcpu_total, vcpu_free,
    memory_mb_total, memory_mb_free, disk_gb_total, disk_gb_free, created_at) VALUES (?, ?, ?, 'ONLINE', ?, 1, ?, 128, 128, 1048576, 1048576, 4000, 4000, 0)`)
  const gpu = database.prepare('INSERT INTO host_gpus (host_id, gpu_type_id, cuda_version, total, free) VALUES (?, ?, ?, ?, ?)')
  for (let n = 0; n < HOSTS; n += 1) {
    const id = `bench-${n}`
    const typeId = TYPES[n % TYPES.length] ?? ''
    const gpus = [{ typeId, count: GPUS, memoryMb: 24_576, driverVersion: null, cudaVersion: '12.8', simulated: true }]
    const inventory = { agentVersion: 'bench', os: 'bench', vcpus: 128, memoryMb: 1_048_576, diskGb: 4_000, gpus, runtimes: ['docker'] }
    host.run(id, id, DATA_CENTERS[n % DATA_CENTERS.length] ?? '', id, JSON.stringify({ ...inventory, isolation: { network: true } }))
    gpu.run(id, typeId, '12.8', GPUS, n % 8 < 4 ? 0 : GPUS)
  }
}
