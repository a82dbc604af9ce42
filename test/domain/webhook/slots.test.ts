import { LANE_BYTES, LANE_SLOTS, openings, type UnderWay } from '../../../src/domain/webhook/slots.ts'
import { describe, expect, it } from '../../support/unit.ts'
import { type Receiver, WebhookWorld } from '../../support/webhooks/webhook-world.ts'

const PER_RECEIVER = 64
const HANGING: Receiver = { receiver: 'https://a.example', path: '/hangs', answerMs: 'hangs' }
const HEALTHY: Receiver = { receiver: 'https://a.example', path: '/ok', answerMs: 100 }

const attempts = (count: number, change: Partial<UnderWay> = {}): UnderWay[] =>
  Array.from({ length: count }, () => ({ lane: 'first', receiver: 'a', target: 'a/ok', bytes: 100, ...change }))
const spread = (count: number, change: Partial<UnderWay> = {}): UnderWay[] =>
  Array.from({ length: count }, (_, n) => ({ lane: 'first', receiver: `r${n}`, target: `r${n}/`, bytes: 100, ...change }))
const open = (underWay: UnderWay[], failing: string[] = [], lane: UnderWay['lane'] = 'first', perReceiver = PER_RECEIVER) =>
  openings(lane, underWay, new Set(failing), perReceiver)

describe('the places of a receiver', () => {
  it('[HOOK-11] a receiver with nothing under way is open', () => {
    expect(open([])).toEqual({ closedReceivers: [], closedTargets: [], maxBytes: Number.MAX_SAFE_INTEGER })
  })

  it.each([
    [31, []],
    [32, ['a']],
  ])('[HOOK-11] %i first attempts of the 32 it may have', (count, closedReceivers) => {
    const underWay = Array.from({ length: count }, (_, n) => attempts(1, { target: `a/${n}` })).flat()
    expect(open(underWay)).toMatchObject({ closedReceivers, closedTargets: [] })
  })

  it('[HOOK-18] first attempts and retries do not take places of each other', () => {
    const firsts = attempts(32, { target: 'a/x' })
    const retries = attempts(32, { lane: 'retry', target: 'a/x' })
    expect(open(firsts, [], 'retry')).toMatchObject({ closedReceivers: [], closedTargets: [] })
    expect(open(retries, [], 'first')).toMatchObject({ closedReceivers: [], closedTargets: [] })
  })

  it.each([
    ['first', 15, [], []],
    ['first', 16, [], ['a/ok']],
    ['first', 7, ['a/ok'], []],
    ['first', 8, ['a/ok'], ['a/ok']],
    ['first', 15, ['a/other'], []],
    ['retry', 23, ['a/ok'], []],
    ['retry', 24, ['a/ok'], ['a/ok']],
  ] as const)('[HOOK-19] one path in lane %s with %i under way, failing: %j', (lane, count, failing, closedTargets) => {
    expect(open(attempts(count, { lane }), [...failing], lane)).toMatchObject({ closedReceivers: [], closedTargets })
  })

  it('[HOOK-11] the smallest setting leaves one place for each kind', () => {
    expect(open(attempts(1), [], 'first', 2)).toMatchObject({ closedReceivers: ['a'], closedTargets: ['a/ok'] })
    expect(open([], ['a/ok'], 'first', 2)).toMatchObject({ closedReceivers: [], closedTargets: [] })
    expect(open(attempts(1), ['a/ok'], 'retry', 2)).toMatchObject({ closedReceivers: [], closedTargets: [] })
    expect(open(attempts(1, { lane: 'retry' }), [], 'retry', 2)).toMatchObject({ closedReceivers: ['a'], closedTargets: ['a/ok'] })
  })
})

describe('the places of an account', () => {
  it('[HOOK-20] the last quarter is for receivers that hold no place', () => {
    expect(open(spread(95))).toMatchObject({ closedReceivers: [] })
    const crowded = spread(96)
    expect(open(crowded)).toMatchObject({ closedReceivers: crowded.map(({ receiver }) => receiver) })
    expect(open(spread(LANE_SLOTS - 1))).not.toBeNull()
    expect(open(spread(LANE_SLOTS))).toBeNull()
    expect(open(spread(LANE_SLOTS), [], 'retry')).not.toBeNull()
  })

  it('[HOOK-20] large bodies are counted by pieces, which bounds their memory the same way', () => {
    const large = { bytes: 50 * 2 ** 20 }
    expect(open(spread(23, large))).toMatchObject({ closedReceivers: [] })
    expect(open(spread(24, large))?.closedReceivers).toHaveLength(24)
    expect(open([...spread(31, large), ...attempts(1, { bytes: 1 })])).toMatchObject({ maxBytes: LANE_BYTES - 31 * 2 ** 20 - 1 })
    expect(open(spread(32, large))).toBeNull()
  })
})

describe('a receiver with a path that hangs', () => {
  it.each([1, 10, 100, 400])('[HOOK-18, HOOK-19] %i deliveries that hang delay no delivery of another path', (hanging) => {
    const world = new WebhookWorld(PER_RECEIVER)
    for (let n = 0; n < hanging; n += 1) world.add(0, HANGING)
    for (let n = 0; n < 200; n += 1) world.add(n * 500, HEALTHY)
    world.run()
    expect(Math.max(...world.firstWaitsMs('/ok'))).toBe(0)
    expect(world.deliveries.map(({ state }) => state.status)).not.toContain('PENDING')
    expect(world.mostAtOnce).toBeLessThanOrEqual(PER_RECEIVER)
  })

  it('[HOOK-4, HOOK-18] its own attempts stay 10 s apart, however many wait for their first', () => {
    const world = new WebhookWorld(PER_RECEIVER)
    for (let n = 0; n < 100; n += 1) world.add(n < 50 ? 0 : n * 700, HANGING)
    world.run()
    expect(new Set(world.gapsMs('/hangs'))).toEqual(new Set([10_000]))
    expect(world.gapsMs('/hangs')).toHaveLength(200)
  })

  it('[HOOK-19] keeps the retries of its other paths in time', () => {
    const world = new WebhookWorld(PER_RECEIVER)
    for (let n = 0; n < 100; n += 1) world.add(0, HANGING)
    for (let n = 0; n < 4; n += 1) world.add(n * 1_000, { ...HANGING, path: '/down' })
    world.run()
    expect(new Set(world.gapsMs('/down'))).toEqual(new Set([10_000]))
  })

  it('[HOOK-20] twelve dead receivers delay no other', () => {
    const world = new WebhookWorld(PER_RECEIVER)
    for (let n = 0; n < 1_200; n += 1) world.add(0, { ...HANGING, receiver: `https://dead-${n % 12}.example` })
    for (let n = 0; n < 100; n += 1) world.add(n * 500, { ...HEALTHY, receiver: 'https://live.example' })
    world.run()
    expect(Math.max(...world.firstWaitsMs('/ok'))).toBe(0)
    expect(world.mostAtOnce).toBeLessThanOrEqual(PER_RECEIVER)
  })
})
