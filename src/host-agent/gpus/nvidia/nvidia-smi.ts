import { runTool, type ToolOutput } from '../run-tool.ts'

export const NVIDIA_SMI = 'nvidia-smi'
/** Begins the ids of GPUs, `GPU-…`; lines without such an id are warnings or errors. */
export const ID_PREFIX = 'GPU-'

const TIMEOUT_MS = 20_000

/** Runs nvidia-smi. Never rejects: a failed one may have printed a part of its answer. */
export function runNvidiaSmi(args: readonly string[], timeoutMs = TIMEOUT_MS): Promise<ToolOutput> {
  return runTool(NVIDIA_SMI, args, timeoutMs)
}

/** Reads these fields of every GPU; `parseCsv` takes the output apart. */
export function queryGpus(fields: readonly string[], timeoutMs = TIMEOUT_MS): Promise<ToolOutput> {
  return runNvidiaSmi([`--query-gpu=${fields.join(',')}`, '--format=csv,noheader,nounits'], timeoutMs)
}

/** Returns the cells of each line of a query. */
export function parseCsv(csv: string): string[][] {
  return csv.split('\n').map((line) => line.split(',').map((cell) => cell.trim()))
}
