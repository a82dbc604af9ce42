import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, vi } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import { buildMountDrivers, sharedVolumesOf } from '../../../src/host-agent/mounts/build-drivers.ts'
import { GuardedViews } from '../../../src/host-agent/mounts/guarded-view.ts'
import { provideMounts } from '../../../src/host-agent/mounts/mount-driver.ts'
import { PersistentVolumes } from '../../../src/host-agent/mounts/persistent-volumes.ts'
import { provideDirectory } from '../../../src/host-agent/mounts/volume-directory.ts'
import { StartError } from '../../../src/host-agent/runtime.ts'
import { parseGlobalVolumes, parseNetworkVolumes } from '../../../src/host-agent/volumes/volume-flags.ts'
import type { WorkloadMount } from '../../../src/host-protocol/messages.ts'
import { waitUntil } from '../../support/time.ts'
import { tempDir } from '../support/temp-dir.ts'

/** As by an agent that is not root, for an engine without user namespaces. */
const HELD = { owner: null, views: new GuardedViews('off') }

const hanging = new Map<string, Promise<void>>()
const hung: string[] = []

vi.mock(import('node:fs/promises'), async (original) => {
  const fs = await original()
  return {
    ...fs,
    stat: (async (path: string) => {
      if (hanging.has(path)) hung.push(path)
      await hanging.get(path)
      return await fs.stat(path)
    }) as typeof fs.stat,
  }
})

const persistent = (change: Partial<WorkloadMount> = {}): WorkloadMount => ({ kind: 'persistent', id: 'p1', path: '/workspace', ...change })

describe('persistent volumes', () => {
  test('[HOST-53] are one directory per pod, writable by any user of the container, and keep a mode set later', async ({ expect }) => {
    const root = tempDir('volumes')
    const volumes = new PersistentVolumes(root, silentLog(), HELD)
    expect(await volumes.provide(persistent())).toEqual({ Type: 'bind', Source: join(root, 'p1'), Target: '/workspace' })
    expect(statSync(join(root, 'p1')).mode & 0o777).toBe(0o777)
    chmodSync(join(root, 'p1'), 0o700)
    await volumes.provide(persistent())
    expect(statSync(join(root, 'p1')).mode & 0o777).toBe(0o700)
  })

  test('[HOST-53] are unreachable as soon as they are wiped; the next start completes an interrupted removal', async ({ expect }) => {
    const root = tempDir('volumes')
    const volumes = new PersistentVolumes(root, silentLog(), HELD)
    await volumes.provide(persistent())
    writeFileSync(join(root, 'p1/file'), 'x')
    await volumes.wipe('p1')
    expect(existsSync(join(root, 'p1'))).toBe(false)
    await volumes.wipe('p1')
    await waitUntil('an empty directory', () => readdirSync(root).length === 0)
    mkdirSync(join(root, '.wiped-p2-x'))
    await volumes.provide(persistent({ id: 'p3' }))
    volumes.sweep()
    await waitUntil('the rest is gone', () => readdirSync(root).join() === 'p3')
  })

  test('[HOST-53] are removed with entries deeper than the longest path, and links in them are not followed', async ({ expect }) => {
    const root = tempDir('volumes')
    const outside = tempDir('outside')
    writeFileSync(join(outside, 'file'), 'x')
    const volumes = new PersistentVolumes(root, silentLog(), HELD)
    await volumes.provide(persistent())
    symlinkSync(outside, join(root, 'p1/link'))
    // As a program in the container would: one step after the other.
    const dig = 'name=$(printf %0200d 0); for step in $(seq 30); do mkdir $name && cd $name || exit 1; done'
    execFileSync('bash', ['-c', dig], { cwd: join(root, 'p1') })
    await volumes.wipe('p1')
    await waitUntil('an empty directory', () => readdirSync(root).length === 0)
    expect(readdirSync(outside)).toEqual(['file'])
  })

  test('[HOST-55] a path that is missing, or no directory, is named in the error', async ({ expect }) => {
    const root = tempDir('volumes')
    const missing = new PersistentVolumes(join(root, 'none'), silentLog(), HELD)
    await expect(missing.provide(persistent())).rejects.toMatchObject({
      ...{ message: 'the volume directory is missing on this host', detail: join(root, 'none') },
    })
    writeFileSync(join(root, 'file'), '')
    const file = new PersistentVolumes(join(root, 'file'), silentLog(), HELD)
    await expect(file.provide(persistent())).rejects.toThrow('is not a directory')
  })
})

describe('a directory on a file system that hangs', () => {
  test('[HOST-55] is reported as silent, blocks one thread only, and serves again when it is back', async ({ expect }) => {
    const root = tempDir('volumes')
    const back = Promise.withResolvers<void>()
    hanging.set(root, back.promise)
    const ask = (id: string, withinMs: number) =>
      provideDirectory({ root, label: 'the network volume directory', owner: null }, id, withinMs)
    const asked = [ask('v1', 10), ask('v2', 10), ask('v3', 10)]
    for (const outcome of await Promise.allSettled(asked)) {
      expect(outcome).toMatchObject({ reason: new StartError('the network volume directory of this host does not answer', root) })
    }
    expect(hung).toEqual([root])
    back.resolve()
    hanging.clear()
    expect(await ask('v4', 60_000)).toBe(join(root, 'v4'))
    expect(readdirSync(root)).toEqual(['v1', 'v4'])
  })
})

describe('mounts of a workload', () => {
  test('[HOST-54] the inventory lists the shared volumes that the operator has set up', ({ expect }) => {
    const nfs = parseNetworkVolumes('nfs://nas/export')
    expect(sharedVolumesOf({ networkVolumes: undefined, globalVolumes: undefined })).toEqual([])
    expect(sharedVolumesOf({ networkVolumes: nfs, globalVolumes: undefined })).toEqual(['network'])
    expect(sharedVolumesOf({ networkVolumes: '/mnt/pods', globalVolumes: '/mnt/bucket' })).toEqual(['network', 'global'])
  })

  test('[MNT-5] ids and paths that could lead elsewhere are refused before anything is made', async ({ expect }) => {
    const root = tempDir('volumes')
    const drivers = buildMountDrivers(
      { networkVolumes: undefined, globalVolumes: undefined },
      new PersistentVolumes(root, silentLog(), HELD),
      HELD,
    )
    for (const path of ['workspace', '/', '//', '/a/../b', '/a/./b', '/a\0b', '/a\nb', '']) {
      await expect(provideMounts([persistent({ path })], drivers), path).rejects.toThrow('is not an absolute path of a directory below /')
    }
    for (const id of ['..', 'a/b', '', '.wiped-x']) {
      await expect(provideMounts([persistent({ id })], drivers), id).rejects.toThrow('is not valid as a directory name')
    }
    expect(readdirSync(root)).toEqual([])
    expect(await provideMounts([persistent({ path: '/a b:c,d/' })], drivers)).toMatchObject([{ Target: '/a b:c,d/' }])
  })

  test('[HOST-54] an NFS export is mounted by the engine, under a name of its own for each server', async ({ expect }) => {
    const source = async (flag: string) => {
      const drivers = buildMountDrivers(
        { networkVolumes: parseNetworkVolumes(flag), globalVolumes: undefined },
        new PersistentVolumes('/none', silentLog(), HELD),
        HELD,
      )
      const [mount] = await provideMounts([{ kind: 'network', id: 'v1', path: '/net' }], drivers)
      return mount
    }
    const mount = await source('nfs://10.0.0.1/export/pods/')
    expect(mount).toMatchObject({
      Type: 'volume',
      Target: '/net',
      VolumeOptions: {
        DriverConfig: { Name: 'local', Options: { type: 'nfs', o: 'addr=10.0.0.1,rw,nosuid,nodev', device: ':/export/pods/v1' } },
      },
    })
    expect((await source('nfs://10.0.0.2/export/pods'))?.Source).not.toBe(mount?.Source)
  })
})

describe('flags of volumes', () => {
  test('name an existing directory or an export', ({ expect }) => {
    const dir = tempDir('volumes')
    expect(parseNetworkVolumes(dir)).toBe(dir)
    expect(parseNetworkVolumes('nfs://nas.example.com/a/b')).toEqual({ server: 'nas.example.com', directory: '/a/b' })
    expect(() => parseNetworkVolumes(join(dir, 'none'))).toThrow('is not a directory')
    for (const text of ['nfs://nas', 'nfs:///a', 'nfs://nas/a,rw', 'nfs://nas/a b', 'nfs://nas/../a', 'nfs://n as/a']) {
      expect(() => parseNetworkVolumes(text), text).toThrow('is not an NFS export')
    }
    expect(() => parseGlobalVolumes('gs://bucket')).toThrow('name a directory, or a bucket as s3://')
  })
})
