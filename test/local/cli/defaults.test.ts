import { changed, unchanged } from '../../support/changed-defaults.ts'
import { afterEach, describe, expect, it } from '../../support/unit.ts'

afterEach(unchanged)

describe('[DOC-10] a changed default', () => {
  it('is in the command line, in its help and in what it sends', async () => {
    const { cliDocument } = await changed(() => import('../../../src/cli/document.ts'))
    const help = cliDocument()
    for (const text of [
      'number of vCPUs (default: 6)',
      'number of vCPUs per worker (default: 6)',
      'COMMUNITY (default: COMMUNITY)',
      'a disk at /data',
    ])
      expect(help).toContain(text)
    const { bodyOf } = await changed(() => import('../../../src/cli/pods/new-pod.ts'))
    expect(bodyOf({ image: 'i', cpu: 'cpu3c', persistent: 5 }, [], {}, 0)).toMatchObject({
      cpu: { vcpuCount: 6 },
      mounts: { persistent: { path: '/data' } },
    })
  })
})
