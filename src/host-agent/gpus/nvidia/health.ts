import type { DriverError, GpuReading } from '../health.ts'
import type { GpuHealth } from '../vendor.ts'
import { ID_PREFIX, parseCsv, queryGpus, runNvidiaSmi } from './nvidia-smi.ts'

/** Fields that every driver supports. */
const BASIC_FIELDS = [
  'index',
  'uuid',
  'pci.bus_id',
  'ecc.errors.uncorrected.volatile.total',
  'retired_pages.pending',
  'temperature.gpu',
] as const
/**
 * Fields of newer drivers. From Ampere on, a GPU remaps rows where older GPUs retire pages; from Hopper on, its temperature limit is a
 * distance.
 */
const NEWER_FIELDS = ['remapped_rows.pending', 'remapped_rows.failure', 'temperature.gpu.tlimit', 'gpu_recovery_action'] as const

/** A column of the health query. */
export type HealthField = (typeof BASIC_FIELDS)[number] | (typeof NEWER_FIELDS)[number]

/** Codes of faults in the hardware or its driver; most other codes are errors of the program that used the GPU. */
const HARDWARE_XIDS: ReadonlyMap<number, string> = new Map([
  [48, 'double-bit ECC error'],
  [62, 'internal micro-controller halted'],
  [64, 'page retirement or row remapping failed'],
  [74, 'NVLink error'],
  [79, 'GPU has fallen off the bus'],
  [92, 'high rate of single-bit ECC errors'],
  [95, 'uncontained ECC error'],
  [119, 'GSP does not answer'],
  [120, 'GSP error'],
  [140, 'unrecovered ECC error'],
])

/** Reads the health of NVIDIA's GPUs (HOST-41). */
export class NvidiaHealth implements GpuHealth {
  /** Query fields that the driver supports; undefined until they are read from it. */
  private fields: readonly HealthField[] | undefined
  readonly findErrors = parseXids

  async read(): Promise<GpuReading[] | undefined> {
    this.fields ??= healthFieldsOf((await runNvidiaSmi(['--help-query-gpu'])).stdout)
    const { stdout, error } = await queryGpus(this.fields)
    const readings = parseHealthQuery(stdout, this.fields)
    if (error === null) return readings
    // The driver may have been replaced, by an older one for example, so its fields are read again.
    this.fields = undefined
    // With one GPU lost, nvidia-smi fails as a whole but may still list the others.
    return readings.length > 0 ? readings : undefined
  }
}

/** Fields to query, from the output of `nvidia-smi --help-query-gpu`: a driver refuses a whole query that has one unknown field. */
export function healthFieldsOf(help: string): readonly HealthField[] {
  const known = new Set([...help.matchAll(/"([a-z0-9_.]+)"/g)].map(([, name]) => name))
  return [...BASIC_FIELDS, ...NEWER_FIELDS.filter((field) => known.has(field))]
}

/** Parses the answer to a query of these fields; lines without a GPU (warnings, errors) are skipped. */
export function parseHealthQuery(csv: string, fields: readonly HealthField[]): GpuReading[] {
  return parseCsv(csv).flatMap((cells) => {
    const cellOf = (field: HealthField) => cells[fields.indexOf(field)] ?? ''
    const uuid = cellOf('uuid')
    if (!/^\d+$/.test(cellOf('index')) || !uuid.startsWith(ID_PREFIX)) return []
    return [
      {
        index: Number(cellOf('index')),
        uuid,
        pciAddress: normalizePciAddress(cellOf('pci.bus_id')),
        uncorrectedErrors: readNumber(cellOf('ecc.errors.uncorrected.volatile.total')),
        retirementPending: isYes(cellOf('retired_pages.pending')),
        remapPending: isYes(cellOf('remapped_rows.pending')),
        remapFailed: isYes(cellOf('remapped_rows.failure')),
        temperatureC: readNumber(cellOf('temperature.gpu')),
        marginC: readNumber(cellOf('temperature.gpu.tlimit')),
        recovery: readAction(cellOf('gpu_recovery_action')),
      },
    ]
  })
}

/** The hardware errors of a kernel log (`dmesg`, `journalctl -k`), each GPU and code once. */
export function parseXids(kernelLog: string): DriverError[] {
  const found = new Map<string, DriverError>()
  for (const [, bus = '', code = ''] of kernelLog.matchAll(/NVRM: Xid \(PCI:([0-9a-f:.]+)\): (\d+)/gi)) {
    const text = HARDWARE_XIDS.get(Number(code))
    const error = { pciAddress: normalizePciAddress(bus), problem: `XID ${Number(code)}: ${text}` }
    if (text !== undefined) found.set(`${error.pciAddress} ${error.problem}`, error)
  }
  return [...found.values()]
}

/** Returns `0000:3b:00`: nvidia-smi writes `00000000:3B:00.0`, the kernel `0000:3b:00` or `0000:3b:00.0`. */
function normalizePciAddress(address: string): string {
  const [, domain = '', rest = ''] = /^([0-9a-f]+):([0-9a-f]+:[0-9a-f]+)/i.exec(address) ?? []
  return `${domain.slice(-4).padStart(4, '0')}:${rest}`.toLowerCase()
}

// "[N/A]", "[Not Supported]" and similar cells give null.
function readNumber(cell: string): number | null {
  return /^-?\d+$/.test(cell) ? Number(cell) : null
}

function isYes(cell: string): boolean {
  return cell.toLowerCase() === 'yes'
}

function readAction(cell: string): string | null {
  return /^[A-Za-z][A-Za-z0-9 ]{0,39}$/.test(cell) && cell !== 'None' ? cell : null
}
