import type { GpuUse } from '../vendor.ts'
import { ID_PREFIX, parseCsv, queryGpus } from './nvidia-smi.ts'

/** Shorter than other queries, because the next reading follows after a few seconds. */
const TIMEOUT_MS = 10_000

const BYTES_PER_MIB = 2 ** 20
const FIELDS = ['uuid', 'utilization.gpu', 'utilization.memory', 'index', 'memory.used', 'memory.total', 'temperature.gpu', 'power.draw']

/** Parses the answer to a query of `FIELDS`; omits a GPU without utilisation figures, and any other figure that is missing. */
export function parseGpuUse(csv: string): Map<string, GpuUse> {
  const found = parseCsv(csv).flatMap(([uuid = '', util = '', memoryUtil = '', index = '', used, total, temperature, power], place) => {
    if (!uuid.startsWith(ID_PREFIX) || !/^\d{1,3}$/.test(util) || !/^\d{1,3}$/.test(memoryUtil)) return []
    const use = {
      index: /^\d{1,2}$/.test(index) ? Number(index) : place,
      util: Math.min(100, Number(util)),
      memoryUtil: Math.min(100, Number(memoryUtil)),
      ...stated('memoryBytes', used, BYTES_PER_MIB),
      ...stated('memoryLimitBytes', total, BYTES_PER_MIB),
      ...stated('temperatureCelsius', temperature),
      ...stated('powerWatts', power),
    }
    return [[uuid, use] as const]
  })
  return new Map(found)
}

function stated<Name extends string>(name: Name, cell = '', factor = 1): { [Key in Name]?: number } {
  return /^\d{1,9}(\.\d{1,9})?$/.test(cell) ? ({ [name]: Number(cell) * factor } as { [Key in Name]?: number }) : {}
}

/** Use of the GPUs by id. Throws when `nvidia-smi` fails. */
export async function readNvidiaUse(): Promise<Map<string, GpuUse>> {
  const { stdout, error } = await queryGpus(FIELDS, TIMEOUT_MS)
  if (error !== null) throw error
  return parseGpuUse(stdout)
}
