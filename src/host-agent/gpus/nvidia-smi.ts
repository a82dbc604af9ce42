import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { GpuInventory } from '../../host-protocol/messages.ts'
import { hasCode } from '../../node/fail.ts'

const run = promisify(execFile)
const TIMEOUT_MS = 20_000

/** One physical GPU of this machine. */
export interface GpuDevice {
  typeId: string
  memoryMb: number
  driverVersion: string
  /** `GPU-…`; the container engine selects devices by this id. */
  uuid: string
}

/**
 * Parses lines of `--query-gpu=name,memory.total,driver_version,uuid --format=csv,noheader,nounits`; other lines (warnings) are skipped.
 */
export function parseGpuQuery(csv: string): GpuDevice[] {
  return csv.split('\n').flatMap((line) => {
    const [typeId = '', memory = '', driverVersion = '', uuid = ''] = line.split(',').map((cell) => cell.trim())
    if (typeId === '' || !uuid.startsWith('GPU-')) return []
    // Machines with unified memory report "[N/A]" for the memory.
    return [{ typeId, memoryMb: Number.parseInt(memory, 10) || 0, driverVersion, uuid }]
  })
}

/** The CUDA version is only in the banner of a plain `nvidia-smi`; "N/A" (no CUDA driver) counts as none. */
export function parseCudaVersion(banner: string): string | null {
  return /CUDA (?:UMD )?Version:\s*(\d+(?:\.\d+)*)/.exec(banner)?.[1] ?? null
}

/** Groups devices by GPU type, as the catalog counts them. */
export function groupGpus(devices: readonly GpuDevice[], cudaVersion: string | null): GpuInventory[] {
  const byType = Map.groupBy(devices, (device) => device.typeId)
  return [...byType].map(([typeId, group]) => ({
    typeId,
    count: group.length,
    memoryMb: Math.min(...group.map((device) => device.memoryMb)),
    driverVersion: group[0]?.driverVersion ?? null,
    cudaVersion,
    simulated: false,
  }))
}

/** The GPUs that the driver reports; none where `nvidia-smi` is missing or fails (`onProblem` gets the reason of a failure). */
export async function readGpus(onProblem: (text: string) => void): Promise<{ devices: GpuDevice[]; cudaVersion: string | null }> {
  try {
    const query = ['--query-gpu=name,memory.total,driver_version,uuid', '--format=csv,noheader,nounits']
    const { stdout } = await run('nvidia-smi', query, { timeout: TIMEOUT_MS })
    const banner = await run('nvidia-smi', [], { timeout: TIMEOUT_MS })
    return { devices: parseGpuQuery(stdout), cudaVersion: parseCudaVersion(banner.stdout) }
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) onProblem(error instanceof Error ? error.message : String(error))
    return { devices: [], cudaVersion: null }
  }
}
