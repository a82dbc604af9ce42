import { errorText, hasCode } from '../../../node/fail.ts'
import type { GpuDevice } from '../device.ts'
import { ID_PREFIX, parseCsv, queryGpus, runNvidiaSmi } from './nvidia-smi.ts'

const FIELDS = ['name', 'memory.total', 'driver_version', 'uuid']

/** Parses the answer to a query of `FIELDS`; lines without a GPU (warnings) are skipped. */
export function parseGpuQuery(csv: string, cudaVersion: string | null): GpuDevice[] {
  return parseCsv(csv).flatMap(([typeId = '', memory = '', driverVersion = '', uuid = '']) => {
    if (typeId === '' || !uuid.startsWith(ID_PREFIX)) return []
    // Machines with unified memory report "[N/A]" for the memory.
    return [{ typeId, memoryMb: Number.parseInt(memory, 10) || 0, driverVersion, cudaVersion, uuid }]
  })
}

/** The CUDA version is only in the banner of a plain `nvidia-smi`; "N/A" (no CUDA driver) counts as none. */
export function parseCudaVersion(banner: string): string | null {
  return /CUDA (?:UMD )?Version:\s*(\d+(?:\.\d+)*)/.exec(banner)?.[1] ?? null
}

/** The GPUs that the driver reports; none where `nvidia-smi` is missing or fails (`onProblem` gets the reason of a failure). */
export async function detectNvidia(onProblem: (text: string) => void): Promise<GpuDevice[]> {
  const query = await queryGpus(FIELDS)
  const banner = query.error === null ? await runNvidiaSmi([]) : query
  if (banner.error === null) return parseGpuQuery(query.stdout, parseCudaVersion(banner.stdout))
  if (!hasCode(banner.error, 'ENOENT')) onProblem(errorText(banner.error))
  return []
}
