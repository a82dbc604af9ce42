import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { MachineStats } from '../../host-protocol/messages.ts'

const run = promisify(execFile)
const TIMEOUT_MS = 10_000

const BYTES_PER_MIB = 2 ** 20
const FIELDS = 'uuid,utilization.gpu,utilization.memory,index,memory.used,memory.total,temperature.gpu,power.draw'

/** Use of one GPU, as reported to the plane. */
export type GpuUse = NonNullable<MachineStats['gpus']>[number]

/**
 * Parses lines of `--query-gpu=FIELDS --format=csv,noheader,nounits`; omits a GPU without utilisation figures, and any other figure that is
 * missing.
 */
export function parseGpuUse(csv: string): Map<string, GpuUse> {
  const found = csv.split('\n').flatMap((line, place) => {
    const [uuid = '', util = '', memoryUtil = '', index = '', used, total, temperature, power] = line.split(',').map((cell) => cell.trim())
    if (!uuid.startsWith('GPU-') || !/^\d{1,3}$/.test(util) || !/^\d{1,3}$/.test(memoryUtil)) return []
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
export async function readGpuUse(): Promise<Map<string, GpuUse>> {
  const query = [`--query-gpu=${FIELDS}`, '--format=csv,noheader,nounits']
  const { stdout } = await run('nvidia-smi', query, { timeout: TIMEOUT_MS })
  return parseGpuUse(stdout)
}
