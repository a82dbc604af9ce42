import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findQuotas } from '../../../../src/host-agent/volumes/quota-support.ts'

// Runs inside the small Linux of volume-sizes.e2e.test.ts: limits volumes of real file systems to their sizes, and writes the results.

const [resultPath = '', ...roots] = process.argv.slice(2)

const UNPRIVILEGED = '/usr/bin/setpriv'

/** Writes like a container: as root without the capability to exceed limits. */
function write(path: string, size: string): string {
  try {
    execFileSync(UNPRIVILEGED, ['--bounding-set', '-sys_resource', 'fallocate', '-l', size, path], { stdio: 'pipe', encoding: 'utf8' })
    return 'written'
  } catch (error) {
    return /No space left on device|Disk quota exceeded/.exec(String(error))?.[0] ?? String(error)
  }
}

async function tryOut(root: string) {
  const quotas = await findQuotas(root)
  if ('problem' in quotas) return quotas
  for (const id of ['v', 'neighbour', 'old']) mkdirSync(join(root, id))
  writeFileSync(join(root, 'old/file'), 'x')
  const limited = [await quotas.limit('v', 1), await quotas.limit('neighbour', 1), await quotas.limit('old', 1)]
  const within = write(join(root, 'v/first'), '900M')
  const beyond = write(join(root, 'v/second'), '200M')
  const neighbour = write(join(root, 'neighbour/file'), '900M')
  const grown = await quotas.limit('v', 2)
  const afterwards = write(join(root, 'v/second'), '200M')
  const counted = await quotas.counted('v')
  const mb = counted && Math.floor(counted.bytes / 2 ** 20)
  return {
    limited,
    within,
    beyond,
    neighbour,
    grown,
    afterwards,
    mb,
    enforced: counted?.enforced,
    old: (await quotas.counted('old')) ?? null,
  }
}

const results = []
for (const root of roots) results.push(await tryOut(root))
writeFileSync(resultPath, JSON.stringify(results))
