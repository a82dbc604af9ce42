import { describe, expect, test } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import { findMount, parseMounts } from '../../../src/host-agent/machine/mount-list.ts'
import { type ProjectQuotas, parseReport, projectOfInode } from '../../../src/host-agent/volumes/project-quotas.ts'
import { problemOf } from '../../../src/host-agent/volumes/quota-support.ts'
import { VolumeSizes } from '../../../src/host-agent/volumes/volume-sizes.ts'
import type { Workload } from '../../../src/host-protocol/messages.ts'

const MOUNTS = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
30 22 98:0 / /srv/volumes rw - ext4 /dev/sdb rw,prjquota
31 22 98:16 / /srv/fast\\040disk rw,nosuid shared:1 - xfs /dev/sdc rw,attr2,inode64,prjquota
32 30 0:40 / /srv/volumes/nfs rw - nfs4 nas:/export rw,vers=4.2
`

describe('[HOST-112] whether a file system keeps volumes to their sizes', () => {
  test.each([
    ['/srv/volumes', '/srv/volumes', null],
    ['/srv/volumes/deep/er', '/srv/volumes', null],
    ['/srv/fast disk', '/srv/fast disk', null],
    ['/srv/volumes/nfs/x', '/srv/volumes/nfs', 'its file system is nfs4; project quotas are of ext4 and XFS'],
    ['/srv/volumes2', '/', 'its ext4 is mounted without prjquota'],
  ])('%s lies on %s: %s', (path, point, problem) => {
    const system = findMount(parseMounts(MOUNTS), path)
    expect([system?.point, problemOf(system)]).toEqual([point, problem])
  })

  test('is false when it only counts, or is unknown', () => {
    expect(problemOf({ type: 'xfs', systemOptions: ['pqnoenforce'] })).toBe('its xfs is mounted without prjquota')
    expect(problemOf(findMount(parseMounts(''), '/srv'))).toBe('its file system is not known')
  })
})

test('[HOST-112] the report of the file system is parsed', () => {
  const csv = `Project,BlockStatus,FileStatus,BlockUsed,BlockSoftLimit,BlockHardLimit,BlockGrace,FileUsed,FileSoftLimit,FileHardLimit,FileGrace
#0,ok,ok,20480,0,0,,4,0,0,
#1073741956,ok,ok,5120,0,5120,,2,0,0,
`
  expect([...parseReport(csv)]).toEqual([
    [0, { bytes: 20_971_520, enforced: false }],
    [1_073_741_956, { bytes: 5_242_880, enforced: true }],
  ])
  expect(parseReport('').size).toBe(0)
})

test('[HOST-112] projects have numbers of their own, that fit, for large inode numbers too', () => {
  expect(projectOfInode('132')).toBe(1_073_741_956)
  const numbers = ['4294967428', '8589934724', '18446744073709551615'].map(projectOfInode)
  for (const number of numbers) expect(number >= 2 ** 30 && number < 2 ** 31).toBe(true)
  expect(new Set(numbers).size).toBe(3)
})

describe('[HOST-112] sizes', () => {
  function makeSizes(works: boolean) {
    const calls: [string, number | null][] = []
    const quotas = {
      adopt: async (id: string) => calls.push([id, null]) > 0,
      limit: async (id: string, sizeGb: number) => calls.push([id, sizeGb]) > 0 && works,
    } as unknown as ProjectQuotas
    return { calls, sizes: new VolumeSizes({ persistent: quotas, network: quotas }, silentLog()) }
  }
  const pod = (sizeGb: number) => ({ mounts: [{ kind: 'persistent', id: 'p', path: '/w', sizeGb }] }) as unknown as Workload

  test('are set before the first use, and again only when they change', async () => {
    const { calls, sizes } = makeSizes(true)
    await sizes.prepare('persistent', 'p', 10)
    sizes.update([pod(10)])
    sizes.update([pod(20)])
    await sizes.prepare('network', 'n', undefined)
    await sizes.resize('network', 'n', 100)
    await sizes.resize('network', 'n', 100)
    expect(calls).toEqual([
      ['p', 10],
      ['p', 20],
      ['n', null],
      ['n', 100],
    ])
  })

  test('are not tried for ever when they cannot be set', async () => {
    const { calls, sizes } = makeSizes(false)
    await sizes.resize('network', 'n', 100)
    await sizes.resize('network', 'n', 100)
    await sizes.prepare('network', 'n', 100)
    expect(calls).toHaveLength(2)
  })

  test('are only reservations where no file system enforces them', async () => {
    const sizes = new VolumeSizes({}, silentLog())
    await sizes.prepare('persistent', 'p', 10)
    expect([sizes.enforced(), await sizes.counted('network', 'n')]).toEqual([[], undefined])
  })
})
