import { describe, expect, it } from 'vitest'
import { drawBlows, SHARES } from '../../bench/reliability/chaos/draw.ts'

const ALL = Object.values(SHARES).reduce((sum, share) => sum + share, 0)

const counted = (blows: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(blows, (blow) => blow)].map(([blow, all]) => [blow, all.length]))

describe('the faults of npm run chaos', () => {
  it('have their shares in a run of full length', () => {
    expect(ALL).toBe(50)
    expect(counted(drawBlows(ALL, 1))).toEqual(SHARES)
    expect(counted(drawBlows(2 * ALL, 1))).toEqual(Object.fromEntries(Object.entries(SHARES).map(([blow, share]) => [blow, 2 * share])))
  })

  it('are the same for the same seed, and others for another one', () => {
    expect(drawBlows(12, 7)).toEqual(drawBlows(12, 7))
    expect(drawBlows(12, 7)).toHaveLength(12)
    expect(drawBlows(12, 7)).not.toEqual(drawBlows(12, 8))
    expect(drawBlows(ALL, 7).slice(0, 12)).toEqual(drawBlows(12, 7))
  })
})
