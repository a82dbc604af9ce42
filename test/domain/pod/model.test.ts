import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  actionsOf,
  decideAction,
  decideHeardAgain,
  decideHostLost,
  decideRecreate,
  decideReplacement,
  decideReport,
  isToRun,
  type PodState,
  type UsageInterval,
} from '../../../src/domain/pod/pod.ts'
import { desiredContainers } from '../../../src/domain/pod/workloads.ts'
import { type PodFact, PodOracle } from '../../model/pod-oracle.ts'
import { PodWorld } from '../../model/pod-world.ts'
import { makePod } from '../../support/pods/pod-state.ts'

const CREATED_AT_MS = 1_000_000
const SKEW_MS = 300_000
const HISTORIES = Number(process.env.MODEL_HISTORIES ?? 400)

type Draft = { passMs: number } & (
  | { kind: 'asked'; action: 'start' | 'stop' | 'restart' | 'terminate' }
  | { kind: 'changed' | 'lost' | 'moved' | 'heard again' }
  | { kind: 'locked'; locked: boolean }
  | { kind: 'said'; back: number; what: 'pulling' | 'starting' | 'running' | 'exited' | 'error' | 'gone'; skewMs: number }
  | { kind: 'repeat'; index: number }
)

const passMs = fc.oneof(fc.constantFrom(-3, 0, 0, 1), fc.integer({ min: 0, max: 60_000 }))
const skewMs = fc.oneof(fc.constant(0), fc.integer({ min: -SKEW_MS, max: SKEW_MS }), fc.double({ min: -2, max: 2, noNaN: true }))
const what = fc.constantFrom(
  'pulling' as const,
  'starting' as const,
  'running' as const,
  'exited' as const,
  'error' as const,
  'gone' as const,
)
const anyDraft: fc.Arbitrary<Draft> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('asked' as const),
      passMs,
      // Termination is rare, because nothing follows it.
      action: fc.oneof(
        { weight: 12, arbitrary: fc.constantFrom('start' as const, 'stop' as const, 'restart' as const) },
        fc.constant('terminate' as const),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('changed' as const, 'lost' as const, 'moved' as const, 'heard again' as const), passMs }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('locked' as const), passMs, locked: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('said' as const), passMs, back: fc.constantFrom(0, 0, 0, 1, 2), what, skewMs }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('said' as const),
      passMs,
      back: fc.constant(0),
      what: fc.constant('running' as const),
      skewMs,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat' as const), passMs, index: fc.nat() }) },
)

/** A pod by the rules under test. */
class PlayedPod {
  pod: PodState = makePod({ status: 'PROVISIONING', version: 1, generation: 1, changedAtMs: CREATED_AT_MS })
  readonly charged: UsageInterval[] = []

  tell(fact: PodFact): void {
    const before = this.pod
    const change = this.decide(fact)
    if (!change) return
    this.pod = change.pod
    if (change.usage) this.charged.push(change.usage)
    expect(change.pod.version, 'every change is one version').toBe(before.version + 1)
    expect(change.pod.generation - before.generation, 'a container at a time').toBeOneOf([0, 1])
    expect(change.pod.changedAtMs, 'time goes on').toBeGreaterThanOrEqual(before.changedAtMs)
  }

  private decide(fact: PodFact) {
    const { pod } = this
    switch (fact.kind) {
      case 'asked': {
        const outcome = decideAction(pod, fact.action, fact.told)
        return outcome.ok ? outcome.change : null
      }
      case 'changed':
        return pod.status === 'TERMINATED' ? null : decideRecreate(pod, fact.told)
      case 'locked':
        return { pod: { ...pod, locked: fact.locked, version: pod.version + 1 }, usage: null }
      case 'lost':
        return decideHostLost(pod, 'its host is silent', fact.lastHeard, fact.told)
      case 'heard again':
        return decideHeardAgain(pod, { fromMs: fact.lastHeard, toMs: fact.told })
      case 'moved':
        return decideReplacement(pod, fact.lastHeard, fact.told)
      case 'said':
        return decideReport(pod, { generation: fact.container, state: fact.what, reason: 'r', atMs: fact.at }, fact.told)
    }
  }
}

/** A draft becomes a fact when it is its turn: the existing containers are known only then. */
function factOf(draft: Draft, nowMs: number, containers: number, facts: readonly PodFact[]): PodFact | null {
  switch (draft.kind) {
    case 'said':
      return { kind: 'said', container: Math.max(1, containers - draft.back), what: draft.what, at: nowMs + draft.skewMs, told: nowMs }
    case 'lost':
    case 'moved':
    case 'heard again':
      return { kind: draft.kind, lastHeard: nowMs - 30_000, told: nowMs }
    case 'repeat': {
      const said = facts.filter((fact) => fact.kind === 'said')
      const again = said[draft.index % Math.max(1, said.length)]
      return again ? { ...again, told: nowMs } : null
    }
    case 'asked':
      return { kind: 'asked', action: draft.action, told: nowMs }
    case 'changed':
      return { kind: 'changed', told: nowMs }
    case 'locked':
      return { kind: 'locked', locked: draft.locked }
  }
}

function expectNoOverlap(intervals: readonly UsageInterval[]): void {
  for (const [index, { startedAtMs, endedAtMs }] of intervals.entries()) {
    expect(endedAtMs).toBeGreaterThanOrEqual(startedAtMs)
    expect(startedAtMs).toBeGreaterThanOrEqual(intervals[index - 1]?.endedAtMs ?? CREATED_AT_MS)
  }
}

function expectAgreement({ pod, charged }: PlayedPod, oracle: PodOracle): void {
  expect(pod.status).toBe(oracle.status)
  expect(actionsOf(pod)).toEqual(oracle.actions)
  expect(pod.generation).toBe(oracle.containers.length)
  expect(pod.startedAtMs).toBe(oracle.runningSince)
  expect(pod.chargedFromMs).toBe(oracle.chargedSince)
  expect(charged).toEqual(oracle.charged)
  expect(isToRun(pod)).toBe(oracle.isWanted)
  if (!oracle.isTerminated) expect([pod.keepsDisk, pod.diskStale]).toEqual([oracle.goesOnWithDisk, oracle.isDiskLost])
}

/** P7: of all the containers that its host still has, the last one runs if any does. */
function expectOneContainer({ pod }: PlayedPod, known: Set<number>): void {
  const wanted = desiredContainers({ ...pod, readyGeneration: null }, [...known])
  const running = wanted.filter(({ desired }) => desired === 'running').map(({ generation }) => generation)
  expect(running).toEqual(isToRun(pod) ? [pod.generation] : [])
  expect(wanted.map(({ generation }) => generation)).toEqual([...new Set(wanted.map(({ generation }) => generation))])
  for (const generation of known)
    expect(
      wanted.some((container) => container.generation === generation),
      'none is forgotten',
    ).toBe(true)
  for (const container of wanted) known.add(container.generation)
}

describe('a pod and the oracle', () => {
  test('[POD-14, POD-19, POD-23, P7, P8] agree over random histories, with clocks that are wrong and reports that repeat', () => {
    fc.assert(
      fc.property(fc.array(anyDraft, { minLength: 20, maxLength: 80 }), (drafts) => {
        const [played, oracle] = [new PlayedPod(), new PodOracle(CREATED_AT_MS)]
        const [known, facts] = [new Set<number>(), [] as PodFact[]]
        let nowMs = CREATED_AT_MS
        for (const draft of drafts) {
          nowMs += draft.passMs
          const fact = factOf(draft, nowMs, oracle.containers.length, facts)
          if (!fact) continue
          facts.push(fact)
          played.tell(fact)
          oracle.tell(fact)
          expectAgreement(played, oracle)
          // The writer of a row may die before the host is notified: hosts skip generations that they never saw.
          if (draft.passMs % 3 !== 0) expectOneContainer(played, known)
        }
        expectNoOverlap(played.charged)
      }),
      { numRuns: HISTORIES },
    )
  })
})

const ACTIONS = fc.constantFrom('start' as const, 'stop' as const, 'restart' as const)
const worldStep = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('act' as const), action: ACTIONS, n: fc.nat({ max: 9 }) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('sync' as const, 'send' as const, 'stop' as const, 'start' as const),
      n: fc.nat({ max: 9 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('hear' as const, 'pass' as const, 'pass' as const), n: fc.nat({ max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('end' as const, 'lose' as const, 'return' as const), n: fc.nat({ max: 9 }) }) },
)

function step(world: PodWorld, next: { kind: string; action?: 'start' | 'stop' | 'restart'; n: number }): void {
  if (next.action) world.act(next.action)
  else if (next.kind === 'sync') world.sync()
  else if (next.kind === 'send') world.send()
  else if (next.kind === 'stop') world.stopOld()
  else if (next.kind === 'start') world.startNew()
  else if (next.kind === 'hear') world.hear(next.n, next.n % 2 === 0)
  else if (next.kind === 'end') world.endOne(next.n)
  else if (next.kind === 'lose') world.loseHost()
  else if (next.kind === 'return') world.returnHost()
  else world.nowMs += next.n * 100
}

/** All parties catch up, as often as one waits for another. */
function settle(world: PodWorld): void {
  for (let round = 0; round < 3; round += 1) {
    world.sync()
    world.send()
    world.stopOld()
    world.startNew()
    world.hear(Number.POSITIVE_INFINITY)
  }
}

const newWorld = () => new PodWorld(makePod({ status: 'PROVISIONING', version: 1, generation: 1 }))

describe('a pod and its host', () => {
  test('[P7] one container at a time, wherever the plane dies between row and host and however far the host lags behind', () => {
    fc.assert(
      fc.property(fc.array(worldStep, { minLength: 20, maxLength: 120 }), (steps) => {
        const world = newWorld()
        for (const next of steps) {
          step(world, next)
          expect(world.live.length).toBeLessThanOrEqual(1)
        }
        expectNoOverlap(
          world.charged.map(({ startedAtMs, endedAtMs }) => ({
            startedAtMs: startedAtMs + CREATED_AT_MS,
            endedAtMs: endedAtMs + CREATED_AT_MS,
          })),
        )
        // Once all parties have caught up, the running container is that of the row.
        world.returnHost()
        settle(world)
        expect(world.live).toEqual(isToRun(world.pod) ? [world.pod.generation] : [])
        expect(world.pod.status === 'RUNNING').toBe(world.live.length === 1)
      }),
      { numRuns: HISTORIES },
    )
  })

  test('[POD-19, P8] without lag, the sum of the charged intervals is the run time of the containers, to the millisecond', () => {
    fc.assert(
      fc.property(fc.array(worldStep, { minLength: 20, maxLength: 120 }), (steps) => {
        const world = newWorld()
        for (const next of steps) {
          step(world, next)
          settle(world)
        }
        world.returnHost()
        settle(world)
        world.act('terminate')
        settle(world)
        expect(world.live).toEqual([])
        expect(world.chargedMs).toBe(world.ranMs - world.unheardMs)
      }),
      { numRuns: HISTORIES },
    )
  })
})
