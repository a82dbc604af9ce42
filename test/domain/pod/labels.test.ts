import { hasLabels, labelsAfter } from '../../../src/domain/pod/labels.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('labels of a pod', () => {
  it('[LBL-2] are replaced as a whole, removed by null and sorted by key', () => {
    const present = { team: 'research' }
    expect(labelsAfter(present, undefined)).toBe(present)
    expect(labelsAfter(present, null)).toEqual({})
    expect(labelsAfter(present, {})).toEqual({})
    expect(JSON.stringify(labelsAfter(present, { b: '2', a: '', B: '1' }))).toBe('{"B":"1","a":"","b":"2"}')
  })

  it.each<[filters: string[], matches: boolean]>([
    [[], true],
    [['team'], true],
    [['team=research'], true],
    [['team=Research'], false],
    [['team=research2'], false],
    [['tea'], false],
    [['empty'], true],
    [['empty='], true],
    [['team='], false],
    [['team=research', 'empty'], true],
    [['team=research', 'team=other'], false],
    [['toString'], false],
  ])('[LBL-4] match %j: %s', (filters, matches) => {
    expect(hasLabels({ team: 'research', empty: '' }, filters)).toBe(matches)
  })
})
