import type { GpuProblem } from '../../host-protocol/messages.ts'

// What nvidia-smi and the kernel log say about GPUs, as problems. Pure; the programs are run by `GpuHealthWatch`.

/** What is asked of nvidia-smi, in this order. */
export const HEALTH_FIELDS = 'index,uuid,pci.bus_id,ecc.errors.uncorrected.volatile.total,retired_pages.pending,temperature.gpu' as const

export interface GpuReading {
  index: number
  uuid: string
  /** `0000:3b:00`, as the kernel names it. */
  pciAddress: string
  /** Since the driver was loaded; null where the GPU has no ECC. */
  uncorrectedErrors: number | null
  retirementPending: boolean
  temperatureC: number | null
}

/** An error that the driver wrote to the kernel log. */
export interface Xid {
  pciAddress: string
  code: number
}

/** Above what data center GPUs bear before they slow down; a GPU counts as hot until it is well below. */
const HOT_FROM_C = 95
const HOT_UNTIL_C = 90

/** Codes that mean the hardware or its driver; the others are mostly errors of the program that used it. */
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

/** Lines of `--query-gpu=<HEALTH_FIELDS> --format=csv,noheader,nounits`; others (warnings, errors) are skipped. */
export function parseHealthQuery(csv: string): GpuReading[] {
  return csv.split('\n').flatMap((line) => {
    const [index = '', uuid = '', bus = '', uncorrected = '', pending = '', temperature = ''] = line.split(',').map((cell) => cell.trim())
    if (!/^\d+$/.test(index) || !uuid.startsWith('GPU-')) return []
    const reading = { index: Number(index), uuid, pciAddress: normalizePciAddress(bus) }
    return [
      {
        ...reading,
        uncorrectedErrors: readNumber(uncorrected),
        retirementPending: pending.toLowerCase() === 'yes',
        temperatureC: readNumber(temperature),
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
  /** Every GPU that was ever seen, by its id, as it was last read. */
  known: ReadonlyMap<string, GpuReading>
  /** This time; undefined when nvidia-smi does not answer. */
  current: readonly GpuReading[] | undefined
  xids: readonly Xid[]
  /** Ids of those that were hot the last time. */
  hot: ReadonlySet<string>
}

/** All that is wrong, in words that stay the same as long as it is the same problem. */
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

/** Whether a GPU counts as hot: from 95 °C on, and until it is below 90 °C again. */
export function isHot({ uuid, temperatureC }: GpuReading, hot: ReadonlySet<string>): boolean {
  return temperatureC !== null && temperatureC >= (hot.has(uuid) ? HOT_UNTIL_C : HOT_FROM_C)
}

function problemsOf(reading: GpuReading, hot: ReadonlySet<string>): GpuProblem[] {
  const { index, uuid, uncorrectedErrors, retirementPending } = reading
  const problems = [
    ...((uncorrectedErrors ?? 0) > 0 ? ['uncorrectable ECC errors'] : []),
    ...(retirementPending ? ['memory pages wait for retirement; reset the GPU'] : []),
    ...(isHot(reading, hot) ? [`overheated (${HOT_FROM_C} °C or more)`] : []),
  ]
  return problems.map((problem) => ({ index, uuid, problem }))
}

// One that fell off before this agent started is known by its address only.
function problemOfXid({ pciAddress, code }: Xid, known: readonly GpuReading[]): GpuProblem {
  const gpu = known.find((reading) => reading.pciAddress === pciAddress)
  const text = `XID ${code}: ${HARDWARE_XIDS.get(code)}`
  return { index: gpu?.index ?? null, uuid: gpu?.uuid ?? null, problem: gpu ? text : `${text} (${pciAddress})` }
}

/** nvidia-smi writes `00000000:3B:00.0`, the kernel `0000:3b:00` or `0000:3b:00.0`. */
function normalizePciAddress(address: string): string {
  const [, domain = '', rest = ''] = /^([0-9a-f]+):([0-9a-f]+:[0-9a-f]+)/i.exec(address) ?? []
  return `${domain.slice(-4).padStart(4, '0')}:${rest}`.toLowerCase()
}

// "[N/A]", "[Not Supported]" and the like are no numbers.
function readNumber(cell: string): number | null {
  return /^\d+$/.test(cell) ? Number(cell) : null
}
