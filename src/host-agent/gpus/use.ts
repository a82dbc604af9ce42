import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const TIMEOUT_MS = 10_000

/** How busy a GPU and its memory are, percent. */
export interface GpuUse {
  util: number
  memoryUtil: number
}

/** Lines of `--query-gpu=uuid,utilization.gpu,utilization.memory --format=csv,noheader,nounits`; a GPU that does not say is left out. */
export function parseGpuUse(csv: string): Map<string, GpuUse> {
  const found = csv.split('\n').flatMap((line) => {
    const [uuid = '', util = '', memoryUtil = ''] = line.split(',').map((cell) => cell.trim())
    const isStated = uuid.startsWith('GPU-') && /^\d{1,3}$/.test(util) && /^\d{1,3}$/.test(memoryUtil)
    return isStated ? [[uuid, { util: Math.min(100, Number(util)), memoryUtil: Math.min(100, Number(memoryUtil)) }] as const] : []
  })
  return new Map(found)
}

/** Use of the GPUs by their ids. Throws when `nvidia-smi` fails. */
export async function readGpuUse(): Promise<Map<string, GpuUse>> {
  const query = ['--query-gpu=uuid,utilization.gpu,utilization.memory', '--format=csv,noheader,nounits']
  const { stdout } = await run('nvidia-smi', query, { timeout: TIMEOUT_MS })
  return parseGpuUse(stdout)
}
