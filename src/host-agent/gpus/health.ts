import type { GpuProblem } from '../../host-protocol/messages.ts'

// Finds problems in what a vendor reads of its GPUs and of the kernel log. Pure; `GpuHealthWatch` has it read.

/** The health of one GPU, as its driver reports it. */
export interface GpuReading {
  index: number
  uuid: string
  /** Such as `0000:3b:00`; the errors of a driver name a GPU by it. */
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

/** A hardware error that the driver wrote to the kernel log. */
export interface DriverError {
  pciAddress: string
  /** Described for the operator, such as `XID 79: GPU has fallen off the bus`. */
  problem: string
}

/** Above the temperature at which data center GPUs slow down; a GPU counts as hot until it is well below. */
const HOT_FROM_C = 95
const HOT_UNTIL_C = 90
/** For a GPU that states its limit (87 °C on an H200): it is hot from the limit on, until it is this many degrees below. */
const COOL_MARGIN_C = 5

/** Facts about the GPUs of one vendor. */
export interface GpuFacts {
  /** The program that reads the driver. */
  tool: string
  /** Last reading of every GPU that was ever seen, by its id. */
  known: ReadonlyMap<string, GpuReading>
  /** Readings of this check; undefined when the driver does not answer. */
  current: readonly GpuReading[] | undefined
  errors: readonly DriverError[]
  /** Ids of the GPUs that were hot at the previous check. */
  hot: ReadonlySet<string>
}

/** All current problems; the text of a problem stays the same for as long as it lasts. */
export function findGpuProblems({ tool, known, current, errors, hot }: GpuFacts): GpuProblem[] {
  const present = new Set((current ?? [...known.values()]).map(({ uuid }) => uuid))
  const driver = current === undefined ? [{ index: null, uuid: null, problem: `${tool} does not answer` }] : []
  const missing = [...known.values()].filter(({ uuid }) => !present.has(uuid))
  return [
    ...driver,
    ...missing.map(({ index, uuid }) => ({ index, uuid, problem: 'not seen by the driver any more' })),
    ...(current ?? []).flatMap((reading) => problemsOf(reading, hot)),
    ...errors.map((error) => problemOfError(error, [...known.values()])),
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
function problemOfError({ pciAddress, problem }: DriverError, known: readonly GpuReading[]): GpuProblem {
  const gpu = known.find((reading) => reading.pciAddress === pciAddress)
  return { index: gpu?.index ?? null, uuid: gpu?.uuid ?? null, problem: gpu ? problem : `${problem} (${pciAddress})` }
}
