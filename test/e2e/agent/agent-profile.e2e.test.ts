import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { loadAgentKey } from '../../../src/host-agent/network/agent-key.ts'
import { waitUntil } from '../../support/time.ts'
import { freshPodAgents, IDLE, type PodAgent } from '../support/agent/pod-agent.ts'
import { sshPodImage } from '../support/agent/worker-image.ts'
import { docker } from '../support/machines/docker.ts'
import { PrivateEngine } from '../support/machines/private-engine.ts'

// The privileges of a container, read from inside it.

const run = promisify(execFile)

let agent: PodAgent
freshPodAgents((fresh) => {
  agent = fresh
})

/** Bits of CAPABILITIES: AUDIT_WRITE 29, CHOWN 0, DAC_OVERRIDE 1, FOWNER 3, FSETID 4, KILL 5, NET_BIND_SERVICE 10, SETFCAP 31, SETGID 6, SETUID 7, SYS_CHROOT 18. */
const POWERS = '00000000a00404fb'

test('[HOST-88][H9] a container has few capabilities, gains no new ones, and is bounded', async () => {
  await agent.start()
  agent.plane.setDesired(agent.workload(1, IDLE, { resources: { vcpus: 1, memoryMb: 256, diskGb: 1, gpu: null } }))
  await agent.reaches(1, 'running')
  const status = await agent.shell(1, 'busybox cat /proc/1/status')
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1]
  expect({
    bounding: field('CapBnd'),
    effective: field('CapEff'),
    noNewPrivileges: field('NoNewPrivs'),
    seccomp: field('Seccomp'),
  }).toEqual({ bounding: POWERS, effective: POWERS, noNewPrivileges: '1', seccomp: '2' })
  const limits = await agent.shell(1, 'busybox cat /proc/1/limits')
  const limitOf = (name: string) => new RegExp(`^${name}\\s+(\\S+)\\s+(\\S+)`, 'm').exec(limits)?.slice(1)
  expect(limitOf('Max core file size')).toEqual(['0', '0'])
  // The highest limit to which the engine of this machine may raise it.
  expect(Number(limitOf('Max open files')?.[0])).toBeLessThanOrEqual(65_536)
  expect(await agent.shell(1, 'busybox cat /proc/1/oom_score_adj')).toBe('500')
  // Every path begins at the container's own group, so that the names of other groups are not visible.
  expect(await agent.shell(1, 'busybox cut -d: -f3 /proc/1/cgroup | busybox sort -u')).toBe('/')
  expect(await agent.inspect(1, '{{.HostConfig.PidsLimit}} {{.HostConfig.CgroupnsMode}} {{.HostConfig.Privileged}}')).toBe(
    '1024 private false',
  )
  const hello = agent.plane.messages.find((message) => message.type === 'hello')
  const isolation = hello?.inventory.isolation
  expect(isolation).toMatchObject({ runtimeClass: 'runc', userNamespaces: false })
  // The agent probed the engine (HOST-107) and left nothing of the probe behind; other tests share the engine.
  expect(isolation?.missing).not.toContainEqual(expect.stringMatching(/^container engine:/))
  expect(await docker('images', '--quiet', `podplane-trial:${loadAgentKey(agent.stateDir)}`)).toBe('')
  expect(isolation?.missing).toContain('user namespaces: the container engine runs without "userns-remap"')
})

/** Operations of programs in ordinary images, as root of their container. */
const WORKS = [
  [
    'dpkg unpacks a file of another user',
    'chown 33:33 /p/x/f && chmod 4755 /p/x/f && dpkg-deb --build /p /p.deb && dpkg -i /p.deb && stat -c %u:%a /x/f',
    '33:4755',
  ],
  ['root writes where no mode lets it', 'mkdir -m 000 /d && touch /d/f && ls /d', 'f'],
  ['useradd and passwd', 'useradd -m ada && echo ada:secret-word | chpasswd && id -un ada', 'ada'],
  ['su', 'su nobody -s /bin/sh -c "id -un"', 'nobody'],
  ['setpriv', 'setpriv --reuid 33 --regid 33 --clear-groups id -u', '33'],
  ['runuser', 'runuser -u nobody -- id -un', 'nobody'],
  ['chroot', 'chroot / id -u', '0'],
  ['a server on port 80', `python3 -c 'import socket; s = socket.socket(); s.bind(("", 80)); print("bound")'`, 'bound'],
  [
    'a supervisor ends the child of another user',
    'setpriv --reuid 33 --clear-groups sleep 60 & sleep 0.2; kill $!; wait $!; echo $?',
    '143',
  ],
  ['sshd reads its configuration', 'mkdir -p /run/sshd && ssh-keygen -q -A && /usr/sbin/sshd -t && echo fine', 'fine'],
] as const

/** Operations that no container may perform. */
const REFUSED = [
  ['a device', 'mknod /disk b 8 0'],
  ['a mount', 'mount -t tmpfs none /mnt'],
  ['a raw socket', `python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'`],
  ['the time', 'date -s 2020-01-01'],
  ['a setting of the kernel', 'echo 1 > /proc/sys/kernel/panic'],
  ['a program of root, for another user', 'cp /usr/bin/id /id && chmod 4755 /id && test "$(setpriv --reuid 33 --clear-groups /id -u)" = 0'],
] as const

test('[HOST-88] the usual operations of ordinary images work in their containers, and no more', async () => {
  const image = await sshPodImage()
  await agent.start()
  agent.plane.setDesired(
    agent.workload(
      1,
      'mkdir -p /p/DEBIAN /p/x; printf "Package: p\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: p\n" > /p/DEBIAN/control; touch /p/x/f; touch /ready; sleep 600',
      { image, entrypoint: ['/bin/sh', '-c'] },
    ),
  )
  await agent.reaches(1, 'running')
  const inside = (script: string) =>
    docker('exec', agent.container(1), '/bin/bash', '-c', script).catch((error: Error) => `failed: ${error.message}`)
  await waitUntil('the files of the package', async () => (await inside('ls /ready')) === '/ready', 10_000)
  const found = await Promise.all(WORKS.map(async ([what, script]) => [what, (await inside(script)).split('\n').at(-1)]))
  expect(found).toEqual(WORKS.map(([what, , output]) => [what, output]))
  for (const [what, script] of REFUSED) expect([what, await inside(script)]).toEqual([what, expect.stringContaining('failed: ')])
})

test('[HOST-89][H9] a setuid program of root in a volume gives no privileges, neither inside nor on the machine', async () => {
  await agent.start()
  agent.plane.setDesired(agent.workload(1, IDLE, { mounts: [agent.volume()] }))
  await agent.reaches(1, 'running')
  await agent.shell(1, 'busybox cp /bin/busybox /workspace/su && busybox chmod 4755 /workspace/su')
  const [, options] = /^\S+ \/workspace \S+ (\S+)/m.exec(await agent.shell(1, 'busybox cat /proc/mounts')) ?? []
  expect(options?.split(',')).toEqual(expect.arrayContaining(['nosuid', 'nodev']))
  // The file is on the machine as the container wrote it, but the container's mount ignores the setuid bit.
  expect(statSync(join(agent.stateDir, 'volumes', agent.pod, 'su')).mode & 0o7777).toBe(0o4755)
  const source = await agent.inspect(1, '{{range .Mounts}}{{.Source}}{{end}}')
  const { stdout } = await run('setpriv', ['--reuid', '33', '--clear-groups', 'sh', '-c', `${source}/su id -u || echo refused`])
  expect(stdout.trim()).toBe('refused')
})

describe('an engine with remapped users', () => {
  test('[HOST-87][HOST-89][H9] root of a container is an unprivileged user on the machine, and has its volume', async () => {
    const engine = new PrivateEngine('--userns-remap', 'default')
    try {
      await engine.start()
      await engine.load(agent.image)
      await agent.start([], { DOCKER_HOST: engine.address })
      agent.plane.setDesired(agent.workload(1, IDLE, { mounts: [agent.volume()] }))
      await agent.reaches(1, 'running')
      const inside = (script: string) => engine.docker('exec', agent.container(1), '/bin/busybox', 'sh', '-c', script)
      const [, base] = /^\s*0\s+(\d+)/.exec(await inside('busybox cat /proc/self/uid_map')) ?? []
      expect(Number(base)).toBeGreaterThan(0)
      await inside('busybox touch /workspace/file && busybox chown 33:33 /workspace/file && busybox chmod 750 /workspace')
      const volume = join(agent.stateDir, 'volumes', agent.pod)
      expect([statSync(volume).uid, statSync(join(volume, 'file')).uid]).toEqual([Number(base), Number(base) + 33])
      const hello = agent.plane.messages.find((message) => message.type === 'hello')
      expect(hello?.inventory.isolation).toMatchObject({ userNamespaces: true })
    } finally {
      await agent.end('SIGKILL')
      await engine.close()
    }
  })
})
