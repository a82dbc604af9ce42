import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../src/local/paths.ts'
import { makeDirDurably, writeDurably, writeDurablySync } from '../../src/node/durable-file.ts'
import { tempDir } from '../host-agent/support/temp-dir.ts'
import { expect, it } from '../support/unit.ts'

/** Functions of `node:fs` that make a file or a directory, change one or move one. */
const WRITERS = new Set(
  'appendFile copyFile cp createWriteStream ftruncate link mkdir mkdtemp open rename symlink truncate write writeFile'
    .split(' ')
    .flatMap((name) => [name, `${name}Sync`]),
)
/** All files that write directly, and why their data need not survive a power cut; all others use the first one. */
const MAY_WRITE: Readonly<Record<string, string>> = {
  'src/node/durable-file.ts': 'writes what survives',
  'src/cli/core/cache.ts': 'a cache',
  'src/cli/deploy/init.ts': 'sources of the user, who sees them at once',
  'src/cli/ingress/cp.ts': 'files of the user, as durable as those of cp',
  'src/cli/tools/bundle.ts': 'a report that is sent at once and can be made again',
  'src/host-agent/builtin/bound-output.ts': 'output of a process that does not survive either',
  'src/host-agent/builtin/run.ts': 'the exit code of a process; without one it counts as ended',
  'src/host-agent/docker/container/container-image.ts': 'layers while they are pulled',
  'src/host-agent/docker/sandbox-image.ts': 'an image while it is loaded',
  'src/host-agent/logs/shipper.ts': 'logs: lines that the plane does not have yet may go with the power',
  'src/host-agent/logs/spool.ts': 'logs: lines that the plane does not have yet may go with the power',
  'src/host-agent/machine/disk-watch.ts': 'a trial of the disk, removed at once',
  'src/host-agent/machine/oom.ts': 'a setting of the kernel',
  'src/host-agent/machine/state-lock.ts': 'a lock of a live process; an empty one is nobody',
  'src/host-agent/mounts/guarded-view.ts': 'places to mount at',
  'src/host-agent/mounts/persistent-volumes.ts': 'a rename, synced right behind it',
  'src/host-agent/mounts/volume-directory.ts': 'an empty volume, made again by the next start of its pod',
  'src/host-agent/network/overlay/write-names.ts': 'the hosts file of a running container',
  'src/host-agent/network/overlay/network-namespace.ts': 'opens a namespace of the kernel',
  'src/host-agent/process/groups.ts': 'control groups of the kernel',
  'src/host-agent/process/output.ts': 'reads',
  'src/host-agent/process/record.ts': 'directories of a process that does not survive either',
  'src/host-agent/process/runtime.ts': 'output of a process that does not survive either',
  'src/host-agent/pulls/layers/fetch-layer.ts': 'a layer while it is pulled',
  'src/host-agent/pulls/pull-image.ts': 'layers while they are pulled',
  'src/host-agent/relay/post-spool.ts': 'reads',
  'src/host-agent/probe/engine-probe.ts': 'a trial, removed behind it',
  'src/host-agent/probe/probe-image.ts': 'an image while it is loaded',
  'src/host-agent/volumes/bucket-mount.ts': 'places to mount at',
  'src/local/agent-process.ts': 'a log',
  'src/node/exclusive-file.ts': 'opens a lock, which ends with the machine',
  'src/local/lock.ts': 'a lock of a live process',
  'src/local/plane/bundle.ts': 'a cache',
  'src/local/plane/damaged-files.ts': 'reads',
  'src/local/plane/storage-watch.ts': 'a reserve of zeros, made again by each start',
  'src/node/file-output.ts': 'output of a program, as the system writes it',
  'src/node/rotating-log.ts': 'a log',
}
/** Files that use the function that replaces a file without syncing it, and why. */
const MAY_LOSE: Readonly<Record<string, string>> = {
  'src/node/json-file.ts': 'hands it on',
  'src/host-agent/logs/spool.ts': 'logs: lines that the plane does not have yet may go with the power',
  'src/host-agent/plane/report-queue.ts': 'the records of the workloads say it again with the next hello',
  'src/host-agent/process/record.ts': 'names a process that does not survive either',
  'src/local/data-dir.ts': 'demo.json, which is there while the plane runs',
  'src/local/lock.ts': 'a lock of a live process; an empty one is nobody',
  'src/local/plane/bundle.ts': 'a cache; a damaged one is built again',
  'src/local/plane/known-logs.ts': 'what was there a moment ago; none is known without it',
}

const SOURCES = readdirSync(join(PROJECT_ROOT, 'src'), { recursive: true })
  .map((name) => `src/${String(name)}`)
  .filter((name) => /\.tsx?$/.test(name))
const source = (file: string) => readFileSync(join(PROJECT_ROOT, file), 'utf8')

/** The names that a file imports from `node:fs`. */
function importsOfFs(text: string): string[] {
  return [...text.matchAll(/import\s+(?:type\s+)?([^;'"]*?)\s+from\s+'(?:node:)?fs(?:\/promises)?'/g)].flatMap(([, clause = '']) =>
    clause
      .replaceAll(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim().split(' ')[0] ?? ''),
  )
}

it('[DUR-1] only listed files write directly, each with its reason; the writes of all others survive a power cut', () => {
  const writing = SOURCES.filter((file) => importsOfFs(source(file)).some((name) => WRITERS.has(name)))
  expect(writing.toSorted()).toEqual(Object.keys(MAY_WRITE).toSorted())
})

it('[DUR-1] the file system is imported by function name, so that the search misses none', () => {
  const whole = SOURCES.filter((file) => {
    const text = source(file)
    return (
      importsOfFs(text).some((name) => name === '*' || name === 'promises') ||
      /import\('(node:)?fs/.test(text) ||
      /import \w+ from '(node:)?fs/.test(text)
    )
  })
  expect(whole).toEqual([])
})

it('[DUR-2] files that may be lost are listed, each with its reason', () => {
  const losing = SOURCES.filter(
    (file) => file !== 'src/node/durable-file.ts' && /\b(writeLosableJsonFile|replaceFileSync)\(/.test(source(file)),
  )
  expect(losing.toSorted()).toEqual(Object.keys(MAY_LOSE).toSorted())
})

it.each([writeDurably, async (path: string, text: string) => writeDurablySync(path, text)])(
  '[DUR-1] a file is replaced whole, for its owner alone; a failure leaves the old one and nothing else',
  async (write) => {
    const dir = tempDir('durable')
    makeDirDurably(join(dir, 'a/b'))
    const path = join(dir, 'a/b/file')
    writeFileSync(`${path}.draft`, 'left behind by another process, and longer')
    chmodSync(`${path}.draft`, 0o644)
    await write(path, 'new')
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['new', 0o600])
    mkdirSync(join(dir, 'a/taken/below'), { recursive: true })
    await expect(write(join(dir, 'a/taken'), 'new')).rejects.toThrow()
    expect(readdirSync(join(dir, 'a'))).toEqual(['b', 'taken'])
    expect(() => makeDirDurably(join(path, 'c'))).toThrow('is not a directory')
  },
)
