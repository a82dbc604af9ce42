import type { GpuProblem } from '../../host-protocol/messages.ts'

// Finds GPU problems in the output of nvidia-smi and in the kernel log. Pure; `GpuHealthWatch` runs the programs.

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

export interface GpuReading {
  index: number
  uuid: string
  /** `0000:3b:00`, as in the kernel log. */
  pciAddress: string
  /** Since the driver was loaded; null where the GPU has no ECC. */
  uncorrectedErrors: number | null
  retirementPending: boolean
  remapPending: boolean
  remapFailed: boolean
  temperatureC: number | null
  /** Degrees left until the highest operating temperature of the GPU; null where the GPU does not state them. */
  marginC: number | null
  /** Action that the driver recommends, such as `Reset`; null: none. */
  recovery: string | null
}

/** An error that the driver wrote to the kernel log. */
export interface Xid {
  pciAddress: string
  code: number
}

/** Above the temperature at which data center GPUs slow down; a GPU counts as hot until it is well below. */
const HOT_FROM_C = 95
const HOT_UNTIL_C = 90
/** For a GPU that states its limit (87 °C on an H200): it is hot from the limit on, until it is this many degrees below. */
const COOL_MARGIN_C = 5

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

/** Fields to query, from the output of `nvidia-smi --help-query-gpu`: a driver refuses a whole query that has one unknown field. */
export function healthFieldsOf(help: string): readonly HealthField[] {
  const known = new Set([...help.matchAll(/"([a-z0-9_.]+)"/g)].map(([, name]) => name))
  return [...BASIC_FIELDS, ...NEWER_FIELDS.filter((field) => known.has(field))]
}

/** Parses lines of `--query-gpu=<fields> --format=csv,noheader,nounits`; other lines (warnings, errors) are skipped. */
export function parseHealthQuery(csv: string, fields: readonly HealthField[]): GpuReading[] {
  return csv.split('\n').flatMap((line) => {
    const cells = line.split(',').map((cell) => cell.trim())
    const cellOf = (field: HealthField) => cells[fields.indexOf(field)] ?? ''
    const uuid = cellOf('uuid')
    if (!/^\d+$/.test(cellOf('index')) || !uuid.startsWith('GPU-')) return []
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
export function parseXids(kernelLog: string): Xid[] {
  const found = new Map<string, Xid>()
  for (const [, bus = '', code = ''] of kernelLog.matchAll(/NVRM: Xid \(PCI:([0-9a-f:.]+)\): (\d+)/gi)) {
    const xid = { pciAddress: normalizePciAddress(bus), code: Number(code) }
    if (HARDWARE_XIDS.has(xid.code)) found.set(`${xid.pciAddress} ${xid.code}`, xid)
  }
  return [...found.values()]
}

export interface GpuFacts {
  /** Last reading of every GPU that was ever seen, by its id. */
  known: ReadonlyMap<string, GpuReading>
  /** Readings of this check; undefined when nvidia-smi does not answer. */
  current: readonly GpuReading[] | undefined
  xids: readonly Xid[]
  /** Ids of the GPUs that were hot at the previous check. */
  hot: ReadonlySet<string>
}

/** All current problems; the text of a problem stays the same for as long as it lasts. */
export function findGpuProblems({ known, current, xids, hot }: GpuFacts): GpuProblem[] {
  const present = new Set((current ?? [...known.values()]).map(({ uuid }) => uuid))
  const driver = current === undefined ? [{ index: null, uuid: null, problem: 'nvidia-smi does not answer' }] : []
  const missing = [...known.values()].filter(({ uuid }) => !present.has(uuid))
  return [
    ...driver,
    ...missing.map(({ index, uuid }) => ({ index, uuid, problem: 'not seen by the driver any more' })),
    ...(current ?? []).flatMap((reading) => problemsOf(reading, hot)),
    ...xids.map((xid) => problemOfXid(xid, [...known.values()])),
  ]
}

/** Whether a GPU counts as hot: at the limit that it states until 5 °C below, otherwise from 95 °C on until it is below 90 °C again. */
export function isHot({ uuid, temperatureC, marginC }: GpuReading, hot: ReadonlySet<string>): boolean {
  if (marginC !== null) return hot.has(uuid) ? marginC < COOL_MARGIN_C : marginC <= 0
  return temperatureC !== null && temperatureC >= (hot.has(uuid) ? HOT_UNTIL_C : HOT_FROM_C)
}

function problemsOf(reading: GpuReading, hot: ReadonlySet<string>): GpuProblem[] {
  const { index, uuid, uncorrectedErrors, retirementPending, remapPending, remapFailed, marginC, recovery } = reading
  const problems = [
    ...((uncorrectedErrors ?? 0) > 0 ? ['uncorrectable ECC errors'] : []),
    ...(retirementPending ? ['memory pages wait for retirement; reset the GPU'] : []),
    ...(remapPending ? ['memory rows wait to be remapped; reset the GPU'] : []),
    ...(remapFailed ? ['a memory row could not be remapped; replace the GPU'] : []),
    ...(isHot(reading, hot) ? [`overheated (${marginC === null ? `${HOT_FROM_C} °C or more` : 'at the limit of this GPU'})`] : []),
    ...(recovery === null ? [] : [`its driver asks for: ${recovery}`]),
  ]
  return problems.map((problem) => ({ index, uuid, problem }))
}

// A GPU that fell off the bus before this agent started is known by its PCI address only.
function problemOfXid({ pciAddress, code }: Xid, known: readonly GpuReading[]): GpuProblem {
  const gpu = known.find((reading) => reading.pciAddress === pciAddress)
  const text = `XID ${code}: ${HARDWARE_XIDS.get(code)}`
  return { index: gpu?.index ?? null, uuid: gpu?.uuid ?? null, problem: gpu ? text : `${text} (${pciAddress})` }
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
