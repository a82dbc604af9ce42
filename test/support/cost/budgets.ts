import { expect } from '../harness.ts'
import { untilQuiet } from '../time.ts'
import { type Cost, type Counted, type Place, sumOfCosts } from './recorder.ts'

/**
 * Costs of an operation in D1 and in the objects, together with everything that it causes there. Rows written and calls are exact. Ids are
 * random, so an index is entered at random places and rows read differ by a few: their number is a bound, as is the number of bytes.
 */
export type Budget = Record<Place, readonly [mostRead: number, written: number, calls: number, mostBytes: number]>

interface Found<Operation> {
  name: Operation
  costs: Record<Place, Cost>
  counted: Counted[]
}

const PLACES: readonly Place[] = ['d1', 'objects']
const SHOWN_CHARS = 160

/** Measures operations one after the other, and compares each with its budget. */
export class Costs<Operation extends string> {
  private readonly budgets: Readonly<Record<Operation, Budget>>
  private readonly recorded: readonly Counted[]
  private readonly isForeign: (one: Counted) => boolean
  private readonly found: Found<Operation>[] = []

  /** `isForeign`: belongs to no operation, because it depends on the clock. */
  constructor(
    budgets: Readonly<Record<Operation, Budget>>,
    recorded: readonly Counted[],
    isForeign: (one: Counted) => boolean = () => false,
  ) {
    this.budgets = budgets
    this.recorded = recorded
    this.isForeign = isForeign
  }

  /** Measures an operation with the work that goes on after its answer. */
  async step<T>(name: Operation, act: () => Promise<T>): Promise<T> {
    const from = this.recorded.length
    const result = await act()
    const own = () => this.recorded.slice(from).filter((one) => !this.isForeign(one))
    await untilQuiet(
      () => this.recorded.length,
      () => isWithin(sumOfCosts(own()), this.budgets[name]),
    )
    const counted = own().map((one) => ({ ...one }))
    this.found.push({ name, costs: sumOfCosts(counted), counted })
    return result
  }

  /** Fails with the statements and calls of each operation whose costs are not those of its budget. */
  expectBudgets(situation: string): void {
    const wrong = this.found.filter(({ name, costs }) => !isWithin(costs, this.budgets[name]))
    for (const { name, costs, counted } of wrong)
      console.info([`${name} ${situation}: ${JSON.stringify(costs)}`, ...counted.map(lineOf)].join('\n'))
    expect(Object.fromEntries(wrong.map(({ name, costs }) => [name, asBudget(costs)])), situation).toEqual({})
    expect(new Set(this.found.map(({ name }) => name)), situation).toEqual(new Set(Object.keys(this.budgets)))
  }
}

function isWithin(costs: Record<Place, Cost>, budget: Budget): boolean {
  return PLACES.every((place) => {
    const { read, written, calls, bytes } = costs[place]
    const [mostRead, exactlyWritten, exactCalls, mostBytes] = budget[place]
    return read <= mostRead && written === exactlyWritten && calls === exactCalls && bytes <= mostBytes
  })
}

function asBudget(costs: Record<Place, Cost>): Budget {
  const of = ({ read, written, calls, bytes }: Cost) => [read, written, calls, bytes] as const
  return { d1: of(costs.d1), objects: of(costs.objects) }
}

function lineOf({ place, read, written, calls, bytes, text }: Counted): string {
  const call = calls > 0 ? ` call of ${bytes} bytes` : ''
  return `  ${place} ${read}/${written}${call} ${text.replaceAll(/\s+/g, ' ').slice(0, SHOWN_CHARS)}`
}
