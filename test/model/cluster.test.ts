import fc from 'fast-check'
import { MAX_PLACES, PLACE_PATIENCE_MS, REACH_PATIENCE_MS } from '../../src/domain/cluster/life.ts'
import { describe, expect, it } from '../support/unit.ts'
import { ClusterEnded, ClusterWorld, type Crash, type Machine, type Row } from './cluster-world.ts'

const HISTORIES = Number(process.env.MODEL_HISTORIES ?? 300)
const SEED = process.env.MODEL_SEED === undefined ? {} : { seed: Number(process.env.MODEL_SEED) }
const MACHINES = 6

type Operation =
  | { kind: 'look'; crash: Crash }
  | { kind: 'work' | 'refuse' | 'accept' | 'lose' | 'come back' | 'drain' | 'open'; machine: number; rank: number }
  | { kind: 'break' | 'heal'; machine: number; other: number }
  | { kind: 'pass'; ms: number }
  | { kind: 'delete' }

const machine = fc.nat(MACHINES - 1)
const crash: fc.Arbitrary<Crash> = fc.option(fc.record({ after: fc.nat(5), when: fc.constantFrom('before' as const, 'after' as const) }))
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('look' as const), crash }) },
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(['work', 'work', 'work', 'work', 'refuse', 'accept', 'lose', 'come back', 'come back', 'drain', 'open'] as const),
      ),
      machine,
      rank: fc.nat(3),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('break' as const, 'heal' as const), machine, other: machine }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1_000, 6_000, REACH_PATIENCE_MS, PLACE_PATIENCE_MS) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'delete' as const }) },
)
const setting = fc.record({
  podCount: fc.integer({ min: 2, max: 4 }),
  gpus: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: MACHINES, maxLength: MACHINES }),
  isLocal: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: MACHINES, maxLength: MACHINES }),
  onHostLoss: fc.constantFrom('WAIT' as const, 'REPLACE' as const),
  operations: fc.array(operation, { minLength: 10, maxLength: 100 }),
})

describe('histories of a cluster', () => {
  it('[CLU-14] [CLU-16] [CLU-17] [CLU-18] [CLU-19] [CLU-22] [CLU-25] keep the promises, and come to an end', () => {
    let created = 0
    let ran = 0
    fc.assert(
      fc.property(setting, ({ podCount, gpus, isLocal, onHostLoss, operations }) => {
        const machines = gpus.map(
          (count, index): Machine => ({
            id: `h${index}`,
            dataCenterId: index < MACHINES - 1 ? 'DC-1' : 'DC-2',
            overlay: isLocal[index] === 0 ? 'local' : 'routed',
            gpus: count,
            isUp: true,
            isDraining: false,
            refuses: new Set(),
            containers: new Map(),
          }),
        )
        const world = new ClusterWorld(machines, onHostLoss)
        const gang = world.create(podCount)
        if (!gang.ok) return
        created += 1
        const watch = new Watch(world)
        for (const one of operations) {
          play(world, one)
          watch.look()
        }
        end(world, watch)
        ran += world.started.length > 0 ? 1 : 0
      }),
      { numRuns: HISTORIES, ...SEED },
    )
    // Histories that create or start no cluster would prove nothing.
    expect(created).toBeGreaterThan(HISTORIES / 2)
    expect(ran).toBeGreaterThan(HISTORIES / 10)
  }, 120_000)
})

function play(world: ClusterWorld, operation: Operation): void {
  if (operation.kind === 'look') check(world, operation.crash)
  if (operation.kind === 'pass') world.nowMs += operation.ms
  if (operation.kind === 'delete') world.isDeleted = true
  if (!('machine' in operation)) return
  const at = world.machines[operation.machine]
  if (!at) return
  if (operation.kind === 'break') world.broken.add([at.id, `h${operation.other}`].toSorted().join())
  if (operation.kind === 'heal') world.broken.delete([at.id, `h${operation.other}`].toSorted().join())
  if (operation.kind === 'refuse') at.refuses.add(`m${operation.rank}`)
  if (operation.kind === 'accept') at.refuses.clear()
  if (operation.kind === 'lose' && at.isUp) world.lose(at)
  if (operation.kind === 'come back' && !at.isUp) world.comeBack(at)
  if (operation.kind === 'drain') at.isDraining = true
  if (operation.kind === 'open') at.isDraining = false
  if (operation.kind === 'work') world.work(at)
}

function check(world: ClusterWorld, crash: Crash): void {
  try {
    world.look(crash)
  } catch (error) {
    if (!(error instanceof ClusterEnded)) throw error
  }
}

/** Checks the invariants after every step. */
class Watch {
  private readonly world: ClusterWorld
  private readonly places: string[]
  private before: readonly Row[]
  private released = new Set<string>()

  constructor(world: ClusterWorld) {
    this.world = world
    this.before = world.rows
    this.places = world.rows.map(({ id, rank }) => `${id}:${rank}`)
  }

  look(): void {
    const { rows, machines, reserved } = this.world
    expect(rows.map(({ id, rank }) => `${id}:${rank}`)).toEqual(this.places)
    expect(rows.filter(({ rank }) => rank === 0)).toHaveLength(1)
    expect(new Set(rows.map(({ dataCenterId }) => dataCenterId)).size).toBe(1)
    for (const { id, gpus } of machines) expect(this.world.heldOn(id)).toBeLessThanOrEqual(gpus)
    for (const row of rows) this.checkOne(row)
    for (const { hostId, memberId } of reserved.values()) expect([hostId, memberId]).toEqual([expect.any(String), expect.any(String)])
    this.checkStarts()
    this.before = rows
  }

  private checkOne(row: Row): void {
    const { reserved } = this.world
    const before = this.before.find(({ id }) => id === row.id)
    if (this.world.isLive(row)) expect([row.id, reserved.has(`${row.id}@${row.hostId}`)]).toEqual([row.id, true])
    if (before?.status === 'TERMINATED') expect(row).toEqual(before)
    expect((row.triedHosts ?? []).length).toBeLessThan(MAX_PLACES)
    // A member that has run stays on its host, unless the host is lost or drained and replacement was requested.
    const hasMoved = before && before.hostId !== row.hostId
    const isEmptied = this.world.machines.some(({ id, isDraining }) => id === before?.hostId && isDraining)
    if (hasMoved && before.triedHosts === null) expect([before.hostLost || isEmptied, this.world.onHostLoss]).toEqual([true, 'REPLACE'])
    if (row.readyGeneration > 0 && !this.released.has(`${row.id}/${row.readyGeneration}`)) {
      // A member may start only after its host has reported that it reaches all others.
      expect(this.world.saidReady).toContain(`${row.id}/${row.hostId}/${row.readyGeneration}`)
      this.released.add(`${row.id}/${row.readyGeneration}`)
    }
  }

  private checkStarts(): void {
    const { started } = this.world
    expect(new Set(started).size).toBe(started.length)
    for (const key of started) expect(this.released).toContain(key)
    // When the first member starts, all others are ready.
    if (started.length === 1) expect(this.world.rows.every(({ readyGeneration }) => readyGeneration > 0)).toBe(true)
  }
}

/** All faults are repaired and every party acts: the cluster must come to rest in a promised state. */
function end(world: ClusterWorld, watch: Watch): void {
  world.broken.clear()
  for (const machine of world.machines) {
    machine.refuses.clear()
    machine.isDraining = false
    if (!machine.isUp) world.comeBack(machine)
  }
  settle(world, watch)
  // Members that find no other place are given up by then.
  world.nowMs += PLACE_PATIENCE_MS
  settle(world, watch)
  if (!world.isDeleted) {
    const left = world.rows.map(({ status, triedHosts }) => (status === 'ERROR' && triedHosts === null ? 'GIVEN UP' : status))
    expect(left.every((status) => status === 'RUNNING' || status === 'GIVEN UP')).toBe(true)
  }
  world.isDeleted = true
  settle(world, watch)
  expect([world.isDropped, world.reserved.size]).toEqual([true, 0])
}

function settle(world: ClusterWorld, watch: Watch): void {
  let same = 0
  for (let round = 0; round < 60 && same < 3; round += 1) {
    const before = JSON.stringify(world.rows)
    check(world, null)
    for (const machine of world.machines) world.work(machine)
    watch.look()
    world.nowMs += REACH_PATIENCE_MS
    same = JSON.stringify(world.rows) === before ? same + 1 : 0
  }
}
