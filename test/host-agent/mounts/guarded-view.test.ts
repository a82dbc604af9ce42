import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import { findMount, parseMounts } from '../../../src/host-agent/machine/mount-list.ts'
import { GuardedViews } from '../../../src/host-agent/mounts/guarded-view.ts'
import { PersistentVolumes } from '../../../src/host-agent/mounts/persistent-volumes.ts'
import { tempDir } from '../support/temp-dir.ts'

const MOUNTS = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:25 / /run rw,nosuid,nodev shared:5 - tmpfs tmpfs rw
41 22 8:1 / /mnt/the\\040pods rw,relatime - ext4 /dev/sda1 rw
52 30 254:0 /var/lib/a/volumes /run/podplane/1 rw,relatime - ext4 /dev/vda rw
53 52 254:0 /var/lib/a/volumes//deleted /run/podplane/1 rw,nosuid,nodev - ext4 /dev/vda rw
`

describe('the list of mounts', () => {
  test('[HOST-89] gives the mount of a path', ({ expect }) => {
    const mounts = parseMounts(MOUNTS)
    expect(findMount(mounts, '/home/a')?.point).toBe('/')
    expect(findMount(mounts, '/runaway')?.point).toBe('/')
    expect(findMount(mounts, '/run/user')?.options).toEqual(['rw', 'nosuid', 'nodev'])
    expect(findMount(mounts, '/mnt/the pods/a')?.root).toBe('/')
    // The last mount is on top.
    expect(findMount(mounts, '/run/podplane/1/p')).toEqual({
      point: '/run/podplane/1',
      root: '/var/lib/a/volumes//deleted',
      options: ['rw', 'nosuid', 'nodev'],
      type: 'ext4',
      systemOptions: ['rw'],
    })
  })
})

describe('views', () => {
  test('[HOST-89] an agent without the right to make one uses the directory itself, and records the reason', async ({ expect }) => {
    const views = new GuardedViews('the agent is not root')
    const root = tempDir('volumes')
    expect([await views.of(root), views.problem]).toEqual([root, 'the agent is not root'])
  })

  test('[HOST-89][H9] an agent that is root shows the same files with set-user programs disabled', async ({ expect }) => {
    const views = await GuardedViews.open('a')
    const root = tempDir('volumes')
    // Other agents of the machine, and concurrent starts, do not interfere.
    const other = await GuardedViews.open('b')
    const [view, same] = await Promise.all([views.of(root), views.of(root), other.of(root), other.of(root)])
    expect(same).toBe(view)
    mkdirSync(join(root, 'p1'))
    expect(statSync(join(view, 'p1')).ino).toBe(statSync(join(root, 'p1')).ino)
    const isGuarded = findMount(parseMounts(readFileSync('/proc/self/mountinfo', 'utf8')), view)?.options.includes('nosuid')
    expect(isGuarded).toBe(views.problem === null)
    expect(await views.of(root)).toBe(view)
    // The directory is replaced, as by a mount: the view follows.
    rmSync(root, { recursive: true })
    mkdirSync(join(root, 'p2'), { recursive: true })
    expect(await views.of(root)).toBe(view)
    expect(statSync(join(view, 'p2')).isDirectory()).toBe(true)
    // Views of a removed directory are removed when an agent starts.
    rmSync(root, { recursive: true })
    const third = await GuardedViews.open('c')
    expect([existsSync(view), third.problem]).toEqual([false, views.problem])
  })

  test('[HOST-89] a new volume is owned by the user that is root inside containers', async ({ expect }) => {
    const root = tempDir('volumes')
    const me = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    // Root may give it away, others may only keep it.
    const owner = me.uid === 0 ? { uid: 100_000, gid: 100_000 } : me
    const volumes = new PersistentVolumes(root, silentLog(), { owner, views: new GuardedViews('off') })
    const mount = { kind: 'persistent' as const, id: 'p1', path: '/workspace' }
    await volumes.provide(mount)
    const { uid, gid, mode } = statSync(join(root, 'p1'))
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ ...owner, mode: 0o777 })
    chownSync(join(root, 'p1'), me.uid, me.gid)
    await volumes.provide(mount)
    expect(statSync(join(root, 'p1')).uid).toBe(me.uid)
  })
})
