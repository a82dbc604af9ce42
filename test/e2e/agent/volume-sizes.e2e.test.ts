import { execFile } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { tempDir } from '../../host-agent/support/temp-dir.ts'

// Project quotas need kernel support, which this machine may lack: a Linux of its own (user-mode-linux) has both file systems.

const run = promisify(execFile)
const INSIDE = join(import.meta.dirname, '../support/machines/quotas-inside.ts')
const MODULES = '/usr/lib/uml/modules'
const BOOT_WITHIN_MS = 50_000

test('[HOST-112] volumes on real ext4 and XFS hold as much as their size allows, neighbours are not affected, and growing helps', async () => {
  const dir = tempDir('quotas')
  const [ext4, xfs, result, init] = ['ext4.img', 'xfs.img', 'result.json', 'init.sh'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
    string,
  ]
  for (const image of [ext4, xfs]) {
    writeFileSync(image, '')
    truncateSync(image, 4 * 2 ** 30)
  }
  await run('mkfs.ext4', ['-q', '-O', 'quota,project', '-E', 'lazy_itable_init=1', ext4])
  await run('mkfs.xfs', ['-q', xfs])
  const quota = join(MODULES, readdirSync(MODULES)[0] ?? '', 'kernel/fs/quota')
  writeFileSync(
    init,
    `#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t tmpfs tmp /mnt
busybox insmod ${quota}/quota_tree.ko; busybox insmod ${quota}/quota_v2.ko
mkdir /mnt/ext4 /mnt/xfs /mnt/none
mount -t ext4 -o prjquota /dev/ubda /mnt/ext4; mount -t xfs -o prjquota /dev/ubdb /mnt/xfs
${process.execPath} ${INSIDE} ${result} /mnt/ext4 /mnt/xfs /mnt/none >${dir}/said 2>&1
echo o >/proc/sysrq-trigger
sleep 60
`,
  )
  chmodSync(init, 0o755)
  const kernel = [`ubd0=${ext4}`, `ubd1=${xfs}`, 'rootfstype=hostfs', 'rw', `init=${init}`, 'mem=512M', 'con=null', 'con0=null,fd:1']
  const booted = await run('linux.uml', kernel, { timeout: BOOT_WITHIN_MS, killSignal: 'SIGKILL' }).catch((error: unknown) => error)
  const read = (path: string) => {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return `nothing; ${JSON.stringify(booted).slice(-2_000)}`
    }
  }
  const said = read(result)
  expect(said, read(join(dir, 'said'))).toMatch(/^\[/)
  const kept = {
    // Data older than the quota is not counted, and its size stays a reservation.
    ...{ limited: [true, true, false], old: null },
    ...{ within: 'written', neighbour: 'written', grown: true, afterwards: 'written', mb: 1100, enforced: true },
  }
  expect(JSON.parse(said)).toEqual([
    { ...kept, beyond: 'Disk quota exceeded' },
    { ...kept, beyond: 'No space left on device' },
    { problem: 'its file system is tmpfs; project quotas are of ext4 and XFS' },
  ])
}, 60_000)
